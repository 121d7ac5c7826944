// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "base/mutex.h"
#include "decode/axis_weights.h"

namespace augur {

// WeightTables keeps the tables of weights that were asked for last: photographs come in few sizes, and a table takes
// as long as a tenth of a small image's resize. Any thread. A table lives as long as it is held, also after it
// was dropped here.
class WeightTables {
 public:
  // 512 tables of photographs made small (500 to 224 pixels, bilinear: 9 KB each) are 4.6 MB. To find the oldest of 512
  // takes 3 us, to make a table 10 and more.
  static constexpr size_t kTablesMax = 512;
  static constexpr size_t kBytesMax = size_t{8} << 20;

  // Keeps `bytes_max` bytes at most.
  explicit WeightTables(size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

  // Returns the table, made now when it is not kept. One over `bytes_max` is not kept.
  std::shared_ptr<const AxisWeights> Get(const Axis& axis);

  // Of the kept tables, for tests.
  size_t bytes() const;

 private:
  struct Kept {
    std::shared_ptr<const AxisWeights> weights;
    uint64_t last_used;
  };

  const size_t bytes_max_;

  mutable Mutex mu_;
  // Guarded by mu_:
  std::map<Axis, Kept> kept_ AUGUR_GUARDED_BY(mu_);
  size_t bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t uses_ AUGUR_GUARDED_BY(mu_) = 0;
};

}  // namespace augur
