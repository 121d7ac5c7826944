// SPDX-License-Identifier: Apache-2.0
#include "prefetch/fill_cursor.h"

#include <algorithm>
#include <vector>

namespace augur {

Slot FillCursor::Next() {
  const Staging& staging = files_.staging();
  const PageCacheFiles& pages = files_.pages();
  const std::array<uint64_t, 7> now = {files_.retained().bytes(),
                                       pages.pushed().bytes(),
                                       staging.held_bytes(),
                                       staging.coming_bytes(),
                                       pages.pushing_bytes() + pages.dropping_bytes(),
                                       retention_.bytes_max(),
                                       window_.HoldsAll()};
  if (now != saw_) passed_ = 0;
  saw_ = now;
  const std::vector<Slot>& files = in_.schedule.by_address();
  if (passed_ >= files.size()) return kNoSlot;
  const size_t steps = std::min(files.size(), kSteps);
  for (size_t step = 0; step < steps; ++step, ++passed_) {
    if (rank_ >= files.size()) rank_ = 0;
    if (admission_.Wants(files[rank_])) return files[rank_];
    ++rank_;
  }
  return kNoSlot;
}

}  // namespace augur
