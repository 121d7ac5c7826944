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
  static constexpr Duration kMin{20'000};
  static constexpr Duration kMax{250'000};      // as long as some requests to the object store take
  static constexpr Duration kUnknown{100'000};  // until kSamplesMin answers have come: the connection is opened then
  static constexpr uint64_t kSlowestRate = 25'000'000;  // bytes a second: a fifth of 1 Gbit/s
  static constexpr size_t kSamplesMin = 64;

  // The first bytes of an answer came after so long, or none came and the server was given up.
  void OnReply(Duration time);
  // How long to wait for the first bytes.
  Duration first_byte() const { return first_byte_; }
  // How long to wait for all of so many bytes.
  Duration For(uint64_t bytes) const { return first_byte_ + Duration(bytes * 1'000'000 / kSlowestRate); }

 private:
  static constexpr size_t kSamples = 512;

  std::array<Duration, kSamples> samples_{};  // a ring
  size_t count_ = 0;                          // since the start
  Duration first_byte_ = kUnknown;
};

}  // namespace augur
