// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "predict/identified_order.h"

namespace augur {

// Where in the stream of torch.manual_seed(stream_seed) the seed of an epoch was drawn.
struct StreamPosition {
  uint64_t stream_seed = 0;
  uint64_t position = 0;
  friend bool operator==(const StreamPosition&, const StreamPosition&) = default;
};

// Those that the user said, and then seeds that people give to torch.manual_seed, the likeliest first: 0, 42, 1234,
// years, small numbers.
std::vector<uint32_t> StreamSeeds(const std::vector<uint32_t>& hinted);

// How the epoch after an identified one may have been drawn, the likeliest first:
//   1. The next epoch of the same sampler.
//   2. The next epoch of another sampler that agreed so far.
//   3. The next epoch of the sampler itself, where its epochs were taken in steps (SteppedSampler).
//   4. The same order, in all later epochs.
//   5. Epoch 0: the script has begun again.
//   6. Another place of the script's stream: its loop draws more or less of it than was thought.
//   7. Every second epoch, in all later epochs.
// After a seed that was searched for: the places behind `places` of the script's own stream where its loop may draw
// again. Then seed + 1, the next permutation of one generator, and the same seed again. (A plain loop draws 2 to 6
// outputs an epoch, and each further loader 2 more.) `epochs`: how many epochs after the identified one; those between
// were not understood. A stride in the script's stream is divided among them where it can be. REQUIRES: epochs > 0.
std::vector<Guess> GuessesAfter(const IdentifiedOrder& identified, const std::vector<StreamPosition>& places,
                                uint32_t epochs = 1);

// The same epoch by the sampler itself, where its epochs are taken in steps (SteppedSampler).
Guess Unstepped(const Guess& guess);

// The guess with a sampler that is good for the epochs after it as well.
Guess Settled(const Guess& guess);

// The one that is so likely that files are fetched by it before anything of the epoch was read; none: wait for reads.
std::optional<Guess> PredictedAfter(const IdentifiedOrder& identified);

// The order of that epoch, or of the next one of a recorded run.
std::optional<IdentifiedOrder> OrderAfter(const IdentifiedOrder& identified);

}  // namespace augur
