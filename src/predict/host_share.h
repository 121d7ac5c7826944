// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "samplers/rank_subset.h"

namespace augur {

// The reads of one stream as places of the whole order of an epoch, that of all ranks; reads that it does not have are
// left out.
struct PlacedReads {
  uint32_t stream = 0;  // StreamId; 0: the process is not known
  std::vector<uint32_t> places;
};

// HostShare is the part of an epoch's order that the ranks of this host read, worked out from their reads. A value.
//
// One process reads for one rank. With a world size of w, rank r reads places r, r + w, r + 2w and so on. So all places
// of one stream leave the same remainder by w. A reader without ranks leaves each remainder once in w reads. For each w
// the likelihood ratio of the two is summed, with the share of wrong reads as in Evidence. Let a stream have m reads, c
// of which leave the commonest remainder. It adds
//   -log2(w) + c * log2(0.97 * w + 0.03) + (m - c) * log2(0.03) bits.
// The candidates for w are the distances of consecutive reads, and the greatest common divisor of each two that follow
// each other. A worker reads its batch in steps of w.
//
// A world size costs its price as a candidate, log2(w) + 2 * log2(1 + log2(w)) + 1 bits. Over all w the powers 2^-price
// sum to less than 1, so that all of them together are one candidate (Rissanen, A Universal Prior for Integers, 1983).
//
// Without such a world size, one rank may read a contiguous piece of the order. Rank r of w begins at place n * r / w,
// as DALI's shards, Hugging Face datasets' shard and numpy.array_split do. Or it begins at ceil(n / w) * r, as torch's
// documentation has it for IterableDataset. A resumed run begins at any of the n places: log2(n) bits against log2(w)
// for the rank, the price of w, and log2(3) for the three ways to round. The least w with such a begin is the
// likeliest. The end of the piece stays a guess, because a reader may also go on behind it (DALI does so unless
// stick_to_shard is set). The first piece cannot be told from the whole order; JobPredictor finds it when it is left.
//
// The ranks are those whose reads were seen. Other ranks of this host may still begin: RankArrivals.
struct HostShare {
  // Larger world sizes are not looked for: 512 hosts of eight ranks. Such a rank costs 20.4 bits (PriceOf), and each of
  // its reads after the first is worth 12.
  static constexpr uint64_t kWorldMax = 4096;

  RankSubset share;      // all ranks, where the reads show no stride
  double bits = 0;       // for the share, after its price; may be below 0, and is 0 for all ranks
  bool open = false;     // the share is likelier than all ranks, but the reads are too few to tell
  bool guessed = false;  // the share is a piece, by its begin alone
};

// `places`: of the whole order. `expected`: the share of the epoch before. It is kept where the reads agree with it,
// with ranks that were not in it before.
HostShare FindHostShare(std::span<const PlacedReads> streams, uint64_t places, const RankSubset& expected);

}  // namespace augur
