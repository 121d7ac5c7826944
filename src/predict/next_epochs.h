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

// How the epoch after an identified one may have been drawn, the likeliest first: by the same sampler; by another one
// that agreed so far; one epoch for each again where they were taken in steps; as the same order again, from now on;
// from the beginning; by every second epoch from now on, or from another place of the script's stream. For a seed that
// was searched for: as seed + 1, as the next permutation of one generator, and from the script's own stream, wherever
// after `places` its loop draws again (a plain loop draws 2 to 6 outputs an epoch, each further loader 2 more).
// `epochs`: it is so many after that one, where those between were not understood; a stride in the script's stream is
// shared out among them, if it can be. REQUIRES: epochs > 0.
std::vector<Guess> GuessesAfter(const IdentifiedOrder& identified, const std::vector<StreamPosition>& places,
                                uint32_t epochs = 1);

// The same epoch by the sampler itself, where its epochs are taken in steps (SteppedSampler).
Guess Unstepped(const Guess& guess);

// The guess with a sampler that is good for the epochs after it as well.
Guess Settled(const Guess& guess);

// The one that is so likely that files are fetched by it before anything of the epoch was read; none: wait for reads.
std::optional<Guess> PredictedAfter(const IdentifiedOrder& identified);

}  // namespace augur
