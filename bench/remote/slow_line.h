// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace augur {

// One direction of a line: a queue that the rate empties, then a wire of a fixed delay. It reads no clock. One thread.
class SlowLine {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Options {
    std::chrono::nanoseconds delay{0};
    double bytes_per_s = 0;        // 0: no limit
    uint64_t queue_bytes_max = 0;  // waiting for a line with a limit; a packet that finds it full is dropped
  };
  // On the wire at most; beyond it packets are dropped. 1 GiB is 30 ms of 35 GB/s.
  static constexpr uint64_t kBytesMax = uint64_t{1} << 30;

  explicit SlowLine(const Options& options) : options_(options) {}

  // False: dropped. Copies the packet.
  bool Send(std::span<const std::byte> packet, Time now);

  // When the next packet arrives; Time::max() when there is none.
  Time next_arrival() const { return packets_.empty() ? Time::max() : packets_.front().arrives; }
  // REQUIRES: next_arrival() is not Time::max(). Packets arrive in the order of sending.
  std::vector<std::byte> Receive();

  // All that is on its way is lost.
  void Clear();

 private:
  struct Packet {
    Time arrives;
    std::vector<std::byte> bytes;
  };

  Options options_;
  std::deque<Packet> packets_;
  uint64_t bytes_ = 0;  // in packets_
  Time sent_until_{};   // until then the line is busy with the packets before
};

}  // namespace augur
