// SPDX-License-Identifier: Apache-2.0
#include "slow_line.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace augur {

bool SlowLine::Send(std::span<const std::byte> packet, Time now) {
  if (bytes_ + packet.size() > kBytesMax) return false;
  const Time begins = std::max(now, sent_until_);
  Time ends = begins;
  if (options_.bytes_per_s > 0) {
    const double waiting_bytes = std::chrono::duration<double>(begins - now).count() * options_.bytes_per_s;
    if (waiting_bytes + static_cast<double>(packet.size()) > static_cast<double>(options_.queue_bytes_max)) {
      return false;
    }
    const std::chrono::duration<double> duration(static_cast<double>(packet.size()) / options_.bytes_per_s);
    ends += std::chrono::duration_cast<std::chrono::nanoseconds>(duration);
  }
  sent_until_ = ends;
  bytes_ += packet.size();
  packets_.push_back({.arrives = ends + options_.delay, .bytes = {packet.begin(), packet.end()}});
  return true;
}

std::vector<std::byte> SlowLine::Receive() {
  AUGUR_CHECK(!packets_.empty());
  std::vector<std::byte> bytes = std::move(packets_.front().bytes);
  packets_.pop_front();
  bytes_ -= bytes.size();
  return bytes;
}

void SlowLine::Clear() {
  packets_.clear();
  bytes_ = 0;
  sent_until_ = {};
}

}  // namespace augur
