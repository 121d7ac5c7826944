// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace augur {

// What a RetryingClient has done since it was made. Written by the engine's thread, read by any.
struct HttpCounters {
  std::atomic<uint64_t> requests{0};     // sent, with retries and hedges
  std::atomic<uint64_t> retries{0};      // attempts after the first one; not hedges
  std::atomic<uint64_t> hedges{0};       // requests sent again because no first byte came
  std::atomic<uint64_t> hedges_won{0};   // of them, those whose answer was taken
  std::atomic<uint64_t> throttled{0};    // answers that asked to slow down: 503 and 429
  std::atomic<uint64_t> connections{0};  // requests that opened one
  std::atomic<uint64_t> bytes{0};        // of the bodies of all answers, also of those that were not taken
  std::atomic<uint64_t> failed{0};       // operations that ended without success; not cancelled ones
  // Gauges.
  std::atomic<uint64_t> in_flight_limit{0};  // of requests that are not urgent
  std::atomic<bool> link_down{false};
};

}  // namespace augur
