// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

namespace augur {

// How long to wait before another attempt: full jitter, a random share of base x 2^n, limited by a cap. Clients that
// failed together do not come back together. Source: M. Brooker, "Exponential Backoff And Jitter" (AWS, 2015).
struct Backoff {
  std::chrono::milliseconds base{100};
  std::chrono::milliseconds cap{20'000};

  // `failures`: attempts that have failed, 1 or more. `random`: from 0 to 1. Ten attempts wait 22 s on average.
  std::chrono::milliseconds Delay(int failures, double random) const {
    const double longest = std::ldexp(static_cast<double>(base.count()), std::clamp(failures - 1, 0, 30));
    return std::chrono::milliseconds(std::llround(random * std::min(longest, static_cast<double>(cap.count()))));
  }
};

}  // namespace augur
