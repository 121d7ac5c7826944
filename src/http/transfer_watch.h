// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace augur {

// TransferWatch says when a transfer is given up, because it does not get on. A transfer has three phases:
//   1. The server's name is looked up, for lookup_max. The C library asks the second name server after 5 s, so a dead
//      first one delays a look-up by that, and connect_max would end it.
//   2. The connection is made, TCP and TLS, for connect_max.
//   3. Bytes go and come: some in each stall_max, and bytes_min in twice that. One a second is silence, too.
// A kept connection begins with the third. No clock (the time is told), no I/O, no locks.
class TransferWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Limits {
    std::chrono::milliseconds lookup_max{0};
    std::chrono::milliseconds connect_max{0};
    std::chrono::milliseconds stall_max{0};
    uint64_t bytes_min = 1;
  };

  void Begin(const Limits& limits, Time now);
  // A socket is opened: the name is known. Also when a kept connection turned out to be closed.
  void OnSocket(Time now);
  // The request can be sent.
  void OnConnected(Time now);
  // `bytes` more bytes have gone or come.
  void OnBytes(uint64_t bytes, Time now);

  bool IsOver(Time now) const { return now >= deadline_; }
  // When to look at IsOver again, at the latest: another phase may have a shorter limit.
  Time NextLook(Time now) const;
  // At least bytes_min have moved.
  bool got_on() const { return got_on_; }
  // For people, once it is over: "no byte came for 5000 ms".
  std::string Cause() const;

 private:
  enum class Phase : uint8_t { kLookUp, kConnect, kMove };

  void Enter(Phase phase, std::chrono::milliseconds limit, Time now);
  void EnterMove(Time now);

  Limits limits_;
  Phase phase_ = Phase::kLookUp;
  Time deadline_ = Time::max();
  Time bytes_until_ = Time::max();  // then bytes_min must have moved
  uint64_t bytes_ = 0;              // of these
  bool got_on_ = false;
};

}  // namespace augur
