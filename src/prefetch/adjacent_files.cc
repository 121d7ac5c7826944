// SPDX-License-Identifier: Apache-2.0
#include "prefetch/adjacent_files.h"

#include <algorithm>

#include "base/page.h"

namespace augur {

std::vector<Slot> AdjacentFiles(const PlannerInput& in, const ReadAdmission& admission, Slot slot,
                                const ReadReach& reach) {
  const std::vector<Slot>& files = in.schedule.by_address();
  const FilePlace& place = in.schedule.PlaceOf(slot);
  // What two reads of whole pages would both bring costs nothing.
  const uint64_t gap_max = std::max(in.disk.worth_gap_bytes(), kPageBytes);
  uint64_t begin = place.offset;
  uint64_t end = place.offset + place.record_bytes;
  uint64_t rendering = place.rendering_bytes();
  std::vector<Slot> joined = {slot};
  // False: the read ends before this file.
  const auto pass = [&](Slot file) {
    const FilePlace& other = in.schedule.PlaceOf(file);
    if (other.shard != place.shard) return false;
    const uint64_t piece = reach.piece_bytes;
    if (piece > 0 && other.offset / piece != place.offset / piece) return false;
    const uint64_t other_end = other.offset + other.record_bytes;
    const uint64_t gap = other.offset > end ? other.offset - end : other_end < begin ? begin - other_end : 0;
    const uint64_t span = std::max(end, other_end) - std::min(begin, other.offset);
    if (gap > gap_max || (other.rendered && rendering + other.bytes + span > reach.room)) return false;
    if (span > reach.bytes_max && (span > reach.soon_bytes_max || in.NextUnread(file) >= reach.soon)) return false;
    if (!admission.Wants(file)) return true;
    joined.push_back(file);
    begin = std::min(begin, other.offset);
    end = std::max(end, other_end);
    rendering += other.rendering_bytes();
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
