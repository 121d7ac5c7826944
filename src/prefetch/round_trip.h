// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace augur {

// RoundTrip finds how long a read takes that waits for no other read. That is what the disk needs to reach the bytes,
// or a server and the way to it to answer. A disk that is far away does much at once, so it needs more reads under way
// than a near one. It may be silent for a round trip while it is well. Of the reads that begin while none is under way,
// the quickest of the last kReads counts. The first ones may wait for a shard to be opened, and others use the disk,
// too. Times are passed in; not synchronized.
class RoundTrip {
 public:
  // A read begins while `under_way` others are under way.
  void Begin(uint64_t now_us, uint64_t under_way) {
    if (under_way == 0) alone_since_us_ = now_us;
  }
  // A read ends. The first one is that which began alone, or a quicker one that began a little later.
  void End(uint64_t now_us) {
    if (!alone_since_us_) return;
    times_us_[count_++ % kReads] = now_us - *alone_since_us_;
    alone_since_us_.reset();
  }
  // The last Begin is taken back.
  void Withdraw() { alone_since_us_.reset(); }

  // 0: not known.
  uint64_t us() const {
    const size_t known = std::min(count_, kReads);
    return known == 0 ? 0 : *std::min_element(times_us_.begin(), times_us_.begin() + static_cast<ptrdiff_t>(known));
  }

 private:
  static constexpr size_t kReads = 16;

  std::array<uint64_t, kReads> times_us_{};  // a ring
  size_t count_ = 0;
  std::optional<uint64_t> alone_since_us_;
};

}  // namespace augur
