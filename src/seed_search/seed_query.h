// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace augur {

// One thing that is known of a permutation: permutation[position] == index.
struct SeedClue {
  uint32_t position = 0;
  uint32_t index = 0;
};

// SeedQuery says which 32-bit seeds of torch's generator (mt19937) are worth a closer look. These are those whose
// permutation of `samples` samples agrees with any clue of `any_of` and, where `and_any_of` is not empty, with any clue
// of that at another position. The permutation is torch.randperm, begun after any of `offsets` outputs.
//
// A clue is tested as if none of the shuffle's earlier swaps had touched its position: output[offset + position] %
// (samples - position) == index - position. That is wrong for about position / samples of all permutations, which are
// then not found by this clue. A clue with index < position, which only a swap can bring about, agrees with nothing.
// What survives is samples / (clues of any_of) times less than what there is, and must be checked by the whole rule.
//
// Why any_of: which position the first read that was seen has, is not sure. The first opens of k workers: one of them
// is position 0. The first of a process, where earlier files came from the page cache unseen: position 0 to 16.
// and_any_of, say the read that followed, brings the survivors of small data sets down for next to no time. With
// samples = 1,000 and 8 clues it is from 34 million to 275 thousand. Give both when samples is below 100,000.
struct SeedQuery {
  uint32_t samples = 0;
  std::vector<uint32_t> offsets = {0};  // outputs drawn before the permutation; torch: 0, or 2 by a DataLoader's seed
  std::vector<SeedClue> any_of = {};
  std::vector<SeedClue> and_any_of = {};
};

// The most that offset + position may be. Each of mt19937's first 227 outputs comes from few words of the state. A scan
// keeps the words for the outputs up to this one: those of 16 vectors of seeds fit the second-level cache (twice 33
// words of 256 seeds, 68 KB). Behind two outputs 30 are left: the first two reads of each rank of up to 15.
inline constexpr uint32_t kSeedOutputMax = 31;

// A seed that agrees, and by which of the offsets.
struct SeedHit {
  uint32_t seed = 0;
  uint32_t offset = 0;
  friend bool operator==(const SeedHit&, const SeedHit&) = default;
  friend auto operator<=>(const SeedHit&, const SeedHit&) = default;
};

// Looks closer at a seed that survived. True: this is it, the search ends.
using SeedPredicate = std::function<bool(uint32_t seed, uint32_t offset)>;

}  // namespace augur
