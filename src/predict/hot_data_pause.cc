// SPDX-License-Identifier: Apache-2.0
#include "predict/hot_data_pause.h"

#include <algorithm>
#include <utility>

namespace augur {

HotDataPause::HotDataPause(const StoreSummary& summary, const Statistics& statistics,
                           std::function<double()> fetched_files)
    : statistics_(statistics),
      fetched_files_(std::move(fetched_files)),
      file_bytes_(1 + static_cast<double>(summary.tree_bytes) /
                          std::max<double>(1, static_cast<double>(summary.file_count))) {}

// Of small files one read of the disk has many, so bytes count as files of the mean size. Of a few bytes of a large
// file a read counts as one.
double HotDataPause::FetchedFiles() const {
  if (fetched_files_) return fetched_files_();
  const uint64_t whole =
      statistics_.Get(Stat::kDiskReads) + statistics_.Get(Stat::kImagesDecoded) + statistics_.Get(Stat::kDecodedHits);
  return static_cast<double>(whole) + static_cast<double>(statistics_.Get(Stat::kDiskBytes)) / file_bytes_;
}

DataHeat::Turn HotDataPause::Look(uint64_t now_us) { return heat_.Look(now_us, Counted()); }

void HotDataPause::Keep(const Access& access) {
  kept_.push_back(access);
  if (kept_.size() > kKeptMax) kept_.pop_front();
}

std::vector<Access> HotDataPause::End(uint64_t now_us) {
  paused_ = false;
  std::vector<Access> late;
  for (const Access& access : std::exchange(kept_, {})) {
    if (access.time_us + kKeptUs >= now_us) late.push_back(access);
  }
  return late;
}

}  // namespace augur
