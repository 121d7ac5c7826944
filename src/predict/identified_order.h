// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/epoch_order.h"
#include "datasets/sample_list.h"
#include "samplers/rank_subset.h"
#include "samplers/sampler.h"
#include "samplers/torch_generator.h"

namespace augur {

// How an epoch may have been drawn.
struct Guess {
  std::shared_ptr<const Sampler> sampler;
  uint64_t epoch = 0;
  // Set where `sampler` is only the seed of this one epoch, and that seed was taken from a stream. Says which place of
  // the stream it was, and how far behind that of the epoch before. Settled makes the sampler of all epochs of it.
  std::optional<DrawnSeed> drawn = {};
  RankSubset share = {};     // the places of it that this host reads
  bool share_given = false;  // the user has named the ranks, and `sampler` takes theirs alone
};

// The order of an epoch, found out. A value; what it points to is immutable.
struct IdentifiedOrder {
  SharedOrder order;
  uint32_t begin = 0;  // the first place that is read, in a run that was resumed in mid-epoch
  // Passes of the job over this dataset before it (EpochStart::epoch). Written once the order is followed.
  uint32_t dataset_epoch = 0;
  // log2 of the odds against chance, after all that was tried: wrong with a probability of 2^-bits.
  double bits = 0;

  // Whose it is: a sampler's, or a recorded run's.
  std::shared_ptr<const SampleList> list;
  Guess guess;
  std::string run;                                     // name of the record; empty: a sampler's
  uint64_t run_epoch = 0;                              // which one of the record
  std::vector<std::shared_ptr<const Order>> recorded;  // the epochs after this one

  // This host's share is a piece whose end is a guess (HostShare). Nothing is predicted behind it, until its readers
  // have come back to its begin, or have gone on.
  bool piece_guessed = false;

  // What comes after this epoch is known by itself, not only how this one was drawn. A seed that was found by search is
  // good for one epoch, until the next one has shown how it follows.
  bool continues = false;
  // Other guesses that agree as well so far, and may be right about the next epoch.
  std::vector<Guess> others;
  // The seed of a fresh generator, and the outputs drawn from it before, when it was searched for.
  std::optional<uint32_t> seed;
  uint32_t offset = 0;

  std::string what;  // "torch RandomSampler, seed 0x9e3779b1"
  std::string how;   // "found by search in 21 s after 6 reads"
};

// All indices of the guess's epoch, those of all ranks: 0.1 s for a million samples.
IndexOrder WholeOrder(const SampleList& list, const Guess& guess);

// The order of a guess that is believed: the part that this host reads, padded as DistributedSampler does. Where the
// world size does not divide the whole order, that begins again until it does. `whole`: WholeOrder of the guess.
IdentifiedOrder MakeIdentifiedOrder(std::shared_ptr<const SampleList> list, const Guess& guess, IndexOrder whole);
IdentifiedOrder MakeIdentifiedOrder(std::shared_ptr<const SampleList> list, const Guess& guess);

// ", rank 1 of 4", to be put behind the name of a sampler; empty: all ranks.
std::string DescribeShare(const RankSubset& share);

// The same epoch, of which this host reads another share.
IdentifiedOrder WithShare(const IdentifiedOrder& identified, RankSubset share);

// The order of the epoch after `identified`, which is this guess of the same list; or the next of a recorded run.
IdentifiedOrder Continue(const IdentifiedOrder& identified, const Guess& guess);
IdentifiedOrder ContinueRecorded(const IdentifiedOrder& identified);

}  // namespace augur
