// SPDX-License-Identifier: Apache-2.0
#include "prefetch/adjacent_files.h"

#include <algorithm>

namespace augur {

std::vector<Slot> AdjacentFiles(const PlannerInput& in, const ReadAdmission& admission, Slot slot, uint64_t bytes_max,
                                uint64_t room, uint64_t piece_bytes) {
  const std::vector<Slot>& files = in.schedule.by_address();
  const FilePlace& place = in.schedule.PlaceOf(slot);
  const uint64_t gap_max = in.disk.worth_gap_bytes();
  uint64_t begin = place.offset;
  uint64_t end = place.offset + place.record_bytes;
  uint64_t making = place.making_bytes();
  std::vector<Slot> joined = {slot};
  // False: the read ends before this file.
  const auto pass = [&](Slot file) {
    const FilePlace& other = in.schedule.PlaceOf(file);
    if (other.shard != place.shard) return false;
    if (piece_bytes > 0 && other.offset / piece_bytes != place.offset / piece_bytes) return false;
    const uint64_t other_end = other.offset + other.record_bytes;
    const uint64_t gap = other.offset > end ? other.offset - end : other_end < begin ? begin - other_end : 0;
    const uint64_t span = std::max(end, other_end) - std::min(begin, other.offset);
    if (gap > gap_max || span > bytes_max || (other.made && making + other.bytes + span > room)) return false;
    if (!admission.Wants(file)) return true;
    joined.push_back(file);
    begin = std::min(begin, other.offset);
    end = std::max(end, other_end);
    making += other.making_bytes();
    return true;
  };
  const uint32_t rank = in.schedule.RankOf(slot);
  for (size_t next = rank + 1; next < files.size() && pass(files[next]); ++next) {
  }
  for (size_t next = rank; next > 0 && pass(files[next - 1]); --next) {
  }
  return joined;
}

}  // namespace augur
