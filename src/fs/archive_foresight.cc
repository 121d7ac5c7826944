// SPDX-License-Identifier: Apache-2.0
#include "fs/archive_foresight.h"

#include <string>

#include "fs/resolve_in_view.h"

namespace augur {

void ArchiveForesight::Saw(const ArchivePlace& place, const ArchiveNode& node, const ArchiveBytes& part,
                           const ArchiveReads::Read& read) {
  if (part.set == nullptr) return;  // a file beside archives
  const std::vector<Entry> samples = reads_.Take(read, part.begins);
  if (samples.empty()) return;
  statistics_.Add(Stat::kArchiveSamples, samples.size());
  if (!orders_.IsLast(part.set.get())) {
    const Result<std::string> folder = place.store->PathOf(node.folder);
    orders_.Saw(place.view->archives_number, place.view->text, folder.ok() ? *folder : "", part.set);
  }
  for (const Entry& sample : samples) {
    const Result<ViewFile> file = ResolveInArchive(*place.view, sample);
    if (file.ok()) observer_.OnRead(*file, read.reader);
  }
}

}  // namespace augur
