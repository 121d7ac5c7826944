// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "samplers/sampler.h"

namespace augur {

// EpochShape is what a sampler makes of its list of indices so that all ranks get equally many. Each index is repeated,
// the list is cut or begun again to a length that divides, and of that only a part is read. A value; pure arithmetic.
// The default leaves the list as it is.
struct EpochShape {
  // Which part of a list with repeats is read.
  enum class Selection {
    kAll,
    kTorchvision,  // as many as the list without repeats has, rounded down to 256 (RASampler of its references, DeiT's)
    kTimm,         // likewise, but lists under 256 are not rounded (RepeatAugSampler of timm 0.6 and later)
  };

  uint64_t repeats = 1;                   // times that each index comes, one after the other
  uint64_t multiple = 1;                  // the length is a multiple of this: the world size, or batches of all ranks
  bool drop_last = false;                 // cut down to the multiple; else the list begins again until it is reached
  Selection selection = Selection::kAll;  // kTorchvision and kTimm take `multiple` as the world size

  // How many indices all ranks read, of a list of `listed`.
  uint64_t Length(uint64_t listed) const;

  // How many indices of the list settle the first `count` of them.
  uint64_t Needed(uint64_t listed, uint64_t count) const;

  // Makes the first `count` indices, Length at most, of the first Needed(listed, count) of the list.
  void Apply(uint64_t listed, size_t count, IndexOrder* indices) const;
};

}  // namespace augur
