// SPDX-License-Identifier: Apache-2.0
#include "fs/archive_foresight.h"

#include <string>

#include "fs/resolve_in_view.h"

namespace augur {

void ArchiveForesight::OnRead(const ArchivePlace& place, const ArchiveNode& node, const ArchiveBytes& part,
                              const ArchiveReads::Read& read) {
  if (part.set == nullptr) return;  // a file beside archives
  const ArchiveReads::Samples samples = reads_.Take(read, part.touched);
  if (samples.asked.empty() && samples.brought.empty()) return;
  statistics_.Add(Stat::kArchiveSamples, samples.asked.size());
  if (!orders_.IsLast(part.set.get())) {
    const Result<std::string> folder = place.store->PathOf(node.folder);
    orders_.OnRead(place.view->archives_number, place.view->text, folder.ok() ? *folder : "", part.set);
  }
  const auto tell = [&](const std::vector<Entry>& list, const auto& take) {
    for (const Entry& sample : list) {
      const Result<ViewFile> file = ResolveInArchive(*place.store, *place.view, sample);
      if (file.ok()) take(*file);
    }
  };
  tell(samples.asked, [&](const ViewFile& file) { observer_.OnRead(file, read.reader); });
  tell(samples.brought, [&](const ViewFile& file) { observer_.OnBrought(file); });
}

}  // namespace augur
