// SPDX-License-Identifier: Apache-2.0
#include "fs/archive_foresight.h"

#include <string>

#include "fs/resolve_in_view.h"

namespace augur {

void ArchiveForesight::Saw(const ArchivePlace& place, const ArchiveNode& node, const ArchiveBytes& part,
                           const ArchiveReads::Read& read) {
  if (part.set == nullptr) return;  // a file beside archives
  const ArchiveReads::Told told = reads_.Take(read, part.touched);
  if (told.asked.empty() && told.brought.empty()) return;
  statistics_.Add(Stat::kArchiveSamples, told.asked.size());
  if (!orders_.IsLast(part.set.get())) {
    const Result<std::string> folder = place.store->PathOf(node.folder);
    orders_.Saw(place.view->archives_number, place.view->text, folder.ok() ? *folder : "", part.set);
  }
  const auto tell = [&](const std::vector<Entry>& samples, const auto& take) {
    for (const Entry& sample : samples) {
      const Result<ViewFile> file = ResolveInArchive(*place.store, *place.view, sample);
      if (file.ok()) take(*file);
    }
  };
  tell(told.asked, [&](const ViewFile& file) { observer_.OnRead(file, read.reader); });
  tell(told.brought, [&](const ViewFile& file) { observer_.OnBrought(file); });
}

}  // namespace augur
