// SPDX-License-Identifier: Apache-2.0
#include "prefetch/view_files.h"

#include <algorithm>

#include "prefetch/planner.h"

namespace augur {
namespace {

// Files whose mean stands for all. Where sizes deviate from it by a half, the mean of 256 does so by 3 %.
constexpr uint64_t kMeanOf = 256;

}  // namespace

Result<ViewFile> ViewFiles::FileOf(EntryNumber file) const {
  if (views_ != nullptr) return views_->FileInView(view_, file);
  AUGUR_TRY_ASSIGN(entry, store_.Get(file));
  return ViewFile::Original(entry);
}

FilePlace ViewFiles::Place(EntryNumber number) const {
  const Result<ViewFile> file = FileOf(number);
  if (!file.ok()) return {};
  const Entry& entry = file->entry;
  if (entry.type != EntryType::kFile || entry.shard == kNoShard) return {};
  return {.shard = entry.shard,
          .offset = entry.offset,
          .record_bytes = entry.size,
          .bytes = file->size,
          .rendered = file->rendered};
}

uint64_t ViewFiles::MeanPages() {
  if (mean_bytes_ == 0) mean_bytes_ = MeanBytes();
  return Planner::MeanPages(mean_bytes_);
}

uint64_t ViewFiles::MeanBytes() const {
  const StoreSummary& summary = store_.summary();
  if (view_ == 0) return summary.tree_bytes / std::max<uint64_t>(1, summary.file_count) + 1;
  uint64_t files = 0;
  uint64_t bytes = 0;
  const uint64_t step = std::max<uint64_t>(1, summary.entry_count / kMeanOf);
  for (uint64_t number = 0; number < summary.entry_count; number += step) {
    const uint64_t size = Place(static_cast<EntryNumber>(number)).bytes;
    bytes += size;
    if (size > 0) ++files;
  }
  return bytes / std::max<uint64_t>(1, files) + 1;
}

}  // namespace augur
