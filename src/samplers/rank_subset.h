// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "samplers/sampler.h"

namespace augur {

// RankSubset says which places of an epoch's order the ranks of this host read; a Sampler gives the order of all ranks
// together. A value; pure arithmetic. The default is everything.
struct RankSubset {
  enum class Kind {
    kStrided,  // place p is rank p mod world_size's: DistributedSampler and all that follow it
    kBatches,  // batch b is rank b mod world_size's: BatchSamplerShard of accelerate, fairseq
    kSlices,   // each batch is cut into equal slices, one a rank: the same with split_batches
    kPiece,    // one contiguous piece of the order: a shard of DALI's, Hugging Face datasets' shard
  };

  Kind kind = Kind::kStrided;
  uint64_t world_size = 1;
  std::vector<uint64_t> ranks = {0};  // those of this host
  uint64_t batch = 1;                 // kBatches: samples of a batch of one rank; kSlices: of all ranks together
  uint64_t begin = 0;                 // kPiece: its first place,
  uint64_t end = 0;                   // and the one behind its last. Rank 0 reads it, and rank 1 all the rest.

  // That of a host that reads one piece.
  static RankSubset Piece(uint64_t begin, uint64_t end);

  // The rank that reads a place. Where a sampler never ends and its ranks stride on over the ends of the epochs
  // (detectron2, mmengine's InfiniteSampler) places are counted from the beginning of the run. There the number is
  // epoch * samples + place.
  uint64_t RankOf(uint64_t place) const;

  // Whether all ranks are here: then Keep leaves everything.
  bool IsAll() const;

  // Keeps what the ranks of this host read. (*indices)[0] lies in place `first_place`.
  void Keep(uint64_t first_place, IndexOrder* indices) const;

  // How many places from 0 on have `count` of this host's among them, at most: a prefix needs as many indices.
  uint64_t PlacesFor(uint64_t count) const;

  // How many of the first `places` places are this host's.
  uint64_t KeptBefore(uint64_t places) const;

  // For people: "ranks 0-3 of 8", "places 0 to 99"; "all ranks" where there is nothing to say.
  std::string Describe() const;
};

}  // namespace augur
