// SPDX-License-Identifier: Apache-2.0
#include "fleet/reply_deadline.h"

#include <algorithm>

namespace augur {

void ReplyDeadline::OnReply(Duration time) {
  samples_[count_++ % kSamples] = time;
  // Of 64 new answers at a time: sorting takes some microseconds.
  if (count_ % kSamplesMin != 0) return;
  const size_t count = std::min(count_, kSamples);
  std::array<Duration, kSamples> sorted = samples_;
  const auto place = sorted.begin() + static_cast<std::ptrdiff_t>(count * 99 / 100);
  std::nth_element(sorted.begin(), place, sorted.begin() + static_cast<std::ptrdiff_t>(count));
  first_byte_ = std::clamp(2 * *place, kMin, kMax);
}

}  // namespace augur
