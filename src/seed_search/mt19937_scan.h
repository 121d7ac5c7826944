// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace augur {

// Mt19937Scan looks for a value in the outputs of mt19937(seed), one block of 624 after the other. It is for the seed
// that one epoch drew from a script's generator: where that lies says where the next epochs' seeds lie. That is 10^2 to
// 1.5 x 10^8 outputs in, behind the model's initial values. Not thread-safe; each seed of a dictionary gets a scan of
// its own, and keeps it (5 KB) where the search may have to go on later.
//
// A value that is not of this stream turns up by chance once in 2^32 outputs, so 10^8 outputs give a false position in
// 2 % of all cases. The epoch after has to confirm it.
class Mt19937Scan {
 public:
  explicit Mt19937Scan(uint32_t seed);
  ~Mt19937Scan();
  Mt19937Scan(Mt19937Scan&&) noexcept;
  Mt19937Scan& operator=(Mt19937Scan&&) noexcept;

  // Looks at the next `count` outputs, rounded up to whole blocks of 624. Appends the number of each that is `value`
  // (the first output is 0), in ascending order, to *positions. Ends early, at a block's end, when *stop (not null)
  // becomes true.
  void Find(uint32_t value, uint64_t count, const std::atomic<bool>* stop, std::vector<uint64_t>* positions);

  // Outputs that were looked at.
  uint64_t position() const { return position_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  uint64_t position_ = 0;
};

}  // namespace augur
