// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace augur {

// ReplyDeadline says how long a reader waits for a server of the fleet. The bet: an answer that takes twice as long as
// 99 of 100 answers will not come soon, and the object store has it sooner. On top of it comes what the bytes take at
// the slowest rate that is worth waiting for.
//
// No clock, no I/O, no locks.
class ReplyDeadline {
 public:
  using Duration = std::chrono::microseconds;
  // Less is a thread that waits for a core where data loaders use all of them. A server that hangs costs three
  // deadlines in 30 s: 1 % of the time.
  static constexpr Duration kMin{100'000};
  static constexpr Duration kMax{1'000'000};
  static constexpr Duration kUnknown{500'000};  // until kSamplesMin answers have come: the connection is opened then
  static constexpr uint64_t kSlowestRate = 25'000'000;  // bytes a second: a fifth of 1 Gbit/s
  static constexpr size_t kSamplesMin = 64;

  // The first bytes of an answer came so long after they were wanted, or none came and the server was given up.
  void OnReply(Duration time);
  // How long to wait for the first bytes.
  Duration first_byte() const { return first_byte_; }
  // How long to wait for all of `bytes` bytes.
  Duration For(uint64_t bytes) const { return first_byte_ + Duration(bytes * 1'000'000 / kSlowestRate); }

 private:
  static constexpr size_t kSamples = 512;

  std::array<Duration, kSamples> samples_{};  // a ring
  size_t count_ = 0;                          // since the start
  Duration first_byte_ = kUnknown;
};

}  // namespace augur
