// SPDX-License-Identifier: Apache-2.0
#include "prefetch/disk_regions.h"

#include <algorithm>
#include <vector>

namespace augur {

void DiskRegions::BeginVisit(const DiskModel& disk) {
  uint64_t bytes = bytes_;
  if (bytes == 0) {
    bytes = kBytesFirst;
    while (bytes > kBytesMin && bytes > bytes_max_) bytes /= 2;
  } else {
    const auto gap = static_cast<double>(std::max(disk.free_gap_bytes(), kBytesMin));
    const auto shown = static_cast<double>(std::min(disk.shown_gap_bytes(), bytes_max_));
    const auto now = static_cast<double>(bytes_);
    const bool grow = shown > now * kGrow;
    const bool shrink = gap * kShrink < now;
    other_gap_ = grow || shrink ? other_gap_ + 1 : 0;
    const bool learned = disk.windows() >= windows_ + kWindowsToSettle;
    if (other_gap_ >= kVisitsToSettle && learned) bytes = grow ? 2 * bytes : bytes / 2;
  }
  if (bytes != bytes_) {
    bytes_ = bytes;
    visits_ = other_gap_ = count_of_ = 0;
    windows_ = disk.windows();
  }
  ++visits_;
  if (count_of_ != schedule_.slot_count()) Count();
}

bool DiskRegions::Probes() const {
  const uint32_t turn = visits_ % kProbeEvery;
  return turn >= kProbeFrom && turn < kProbeFrom + kProbes;
}

bool DiskRegions::Same(Slot one, Slot other) const {
  const FilePlace& a = schedule_.PlaceOf(one);
  const FilePlace& b = schedule_.PlaceOf(other);
  return a.shard == b.shard && a.offset / bytes_ == b.offset / bytes_;
}

std::span<const Slot> DiskRegions::Around(Slot slot) const {
  const std::vector<Slot>& files = schedule_.by_address();
  size_t begin = schedule_.RankOf(slot);
  size_t end = begin + 1;
  while (begin > 0 && Same(files[begin - 1], slot)) --begin;
  while (end < files.size() && Same(files[end], slot)) ++end;
  return std::span(files).subspan(begin, end - begin);
}

void DiskRegions::Count() {
  count_of_ = schedule_.slot_count();
  count_ = 0;
  const std::vector<Slot>& files = schedule_.by_address();
  for (size_t rank = 0; rank < files.size(); ++rank) {
    if (schedule_.PlaceOf(files[rank]).bytes > 0 && (rank == 0 || !Same(files[rank - 1], files[rank]))) ++count_;
  }
}

}  // namespace augur
