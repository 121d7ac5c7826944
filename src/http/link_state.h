// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>

namespace augur {

// LinkState knows whether the server can be reached. The link is down after kFailuresDown attempts in a row without a
// byte of an answer, and up again with the first byte of any. While it is down an attempt tells only that it is still
// down. So attempts are not counted then, and prefetch sends one request in kProbeInterval to see whether it is back.
//
// No clock (the time is told), no I/O, no locks.
class LinkState {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr int kFailuresDown = 3;
  static constexpr std::chrono::seconds kProbeInterval{5};

  bool down() const { return failures_ >= kFailuresDown; }
  // REQUIRES: down().
  Time down_since() const { return down_since_; }

  // The first byte of an answer came. True: the link was down.
  bool OnAnswer() { return std::exchange(failures_, 0) >= kFailuresDown; }
  // An attempt failed without a byte of an answer.
  void OnNoAnswer(Time now) {
    if (++failures_ != kFailuresDown) return;
    down_since_ = now;
    next_probe_ = now + kProbeInterval;
  }
  // True once in kProbeInterval, first kProbeInterval after the link went down: a request of the prefetch may be sent.
  // REQUIRES: down().
  bool TakeProbe(Time now) {
    if (now < next_probe_) return false;
    next_probe_ = now + kProbeInterval;
    return true;
  }

 private:
  int failures_ = 0;  // in a row
  Time down_since_;
  Time next_probe_;
};

}  // namespace augur
