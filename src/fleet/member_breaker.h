// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace augur {

// MemberBreaker says whether a server of the fleet is asked. Three failures in a row put it out for kOut: its keys are
// misses then, at once. After that one request tries it: if it fails the server is out again, else it is back. Its keys
// go to no other server meanwhile. That would put a second copy into caches that are full, and lose it when the server
// comes back.
//
// No clock (the time is told), no I/O, no locks.
class MemberBreaker {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr int kFailuresOut = 3;
  static constexpr std::chrono::seconds kOut{30};

  explicit MemberBreaker(std::chrono::milliseconds out = kOut) : out_(out) {}

  bool out() const { return failures_ >= kFailuresOut; }
  // Whether a request may be sent now. True while it is out: this is the trial, and the next one is as long after it.
  bool MayAsk(Time now) {
    if (!out()) return true;
    if (now < next_trial_) return false;
    next_trial_ = now + out_;
    return true;
  }
  // A request was answered in time. True: the server is back.
  bool OnAnswer() {
    const bool was_out = out();
    failures_ = 0;
    return was_out;
  }
  // A request was not answered in time, or the connection failed. True: the server is out from now on.
  bool OnFailure(Time now) {
    if (out()) return false;
    if (++failures_ < kFailuresOut) return false;
    next_trial_ = now + out_;
    return true;
  }

 private:
  const std::chrono::milliseconds out_;
  int failures_ = 0;  // in a row
  Time next_trial_;
};

}  // namespace augur
