// SPDX-License-Identifier: Apache-2.0
#include "http/transfer_watch.h"

#include <algorithm>

namespace augur {

void TransferWatch::Begin(const Limits& limits, Time now) {
  limits_ = limits;
  got_on_ = false;
  Enter(Phase::kLookUp, limits_.lookup_max, now);
}

void TransferWatch::OnSocket(Time now) {
  // Further addresses of a name are tried within the same time.
  if (phase_ != Phase::kConnect) Enter(Phase::kConnect, limits_.connect_max, now);
}

void TransferWatch::OnConnected(Time now) { EnterMove(now); }

void TransferWatch::OnBytes(uint64_t bytes, Time now) {
  if (phase_ != Phase::kMove || bytes == 0) return;
  bytes_ += bytes;
  deadline_ = std::min(now + limits_.stall_max, bytes_until_);
  if (bytes_ < limits_.bytes_min) return;
  got_on_ = true;
  EnterMove(now);
}

void TransferWatch::Enter(Phase phase, std::chrono::milliseconds limit, Time now) {
  phase_ = phase;
  deadline_ = now + limit;
}

void TransferWatch::EnterMove(Time now) {
  Enter(Phase::kMove, limits_.stall_max, now);
  bytes_until_ = now + 2 * limits_.stall_max;
  bytes_ = 0;
}

TransferWatch::Time TransferWatch::NextLook(Time now) const {
  constexpr std::chrono::milliseconds kLookMax{1000};
  return std::min(deadline_, now + std::min({kLookMax, limits_.connect_max / 4, limits_.stall_max / 4}));
}

std::string TransferWatch::Cause() const {
  const auto ms = [](std::chrono::milliseconds time) { return std::to_string(time.count()) + " ms"; };
  switch (phase_) {
    case Phase::kLookUp:
      return "no name server gave the server's address in " + ms(limits_.lookup_max) + " (see /etc/resolv.conf)";
    case Phase::kConnect: return "no connection in " + ms(limits_.connect_max);
    case Phase::kMove: break;
  }
  if (deadline_ < bytes_until_) return "no byte came for " + ms(limits_.stall_max);
  return "only " + std::to_string(bytes_) + " bytes came in " + ms(2 * limits_.stall_max);
}

}  // namespace augur
