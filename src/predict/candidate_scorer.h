// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "datasets/sample_list.h"
#include "predict/host_share.h"
#include "readers/epochs.h"
#include "samplers/sampler.h"

namespace augur {

// The first reads of an epoch as indices of one list of samples, with which guesses are compared.
struct IndexReads {
  struct Stream {
    uint32_t id = 0;                    // StreamId; 0: the process that made these reads is not known
    bool starts_at_first_read = false;  // nothing was, or can have been, read before the first of them
    LaunchFacts launch;
    IndexOrder indices;
  };
  std::vector<Stream> streams;  // in the order of their numbers
  uint64_t count = 0;
};

// CandidateScorer compares guesses of how an epoch was shuffled with its first reads, by Evidence. Immutable, safe from
// any thread: a search calls it from all of its own.
class CandidateScorer {
 public:
  // A guess is believed when it has at least this number of bits more than the log2 of the number of guesses that were
  // tried. It is wrong with a probability of 10^-6.
  static constexpr double kBelievedBits = 20;
  // Of each stream, the first reads up to this number are compared with a guess. Where they say least, of a nameless
  // process in 50 files, that is 1.1 bits a read, so 64 say 70; one seed of 2^32 needs 53.
  static constexpr size_t kReadsAStream = 64;

  // Reads of files that the list does not have are left out: they belong to something else.
  CandidateScorer(std::shared_ptr<const SampleList> list, const EpochStart& epoch);

  const SampleList& list() const { return *list_; }
  const std::shared_ptr<const SampleList>& shared_list() const { return list_; }
  const IndexReads& reads() const { return reads_; }
  uint64_t samples() const { return list_->size(); }
  // What the right guess would get, about: whether it is worth to try some.
  double BitsExpected() const { return bits_expected_; }
  // No guess gets more.
  double BitsMax() const { return bits_max_; }

  // Evidence that epoch `epoch` of the sampler is read, from its beginning. Most wrong guesses cost 300 draws.
  double Try(const Sampler& sampler, uint64_t epoch) const;
  // The same for an order whose first indices these are, of `length` in all.
  double TryPrefix(const IndexOrder& prefix, uint64_t length) const;
  // How much of an order Try looks at.
  size_t prefix() const { return prefix_; }
  // Whether the first few indices of an order may be right: one of the streams begins with two of them.
  bool Likely(const IndexOrder& few) const;
  // The reads, of each stream in turn, each sample once.
  IndexOrder InTurn() const;
  struct Score {
    double bits = 0;     // of evidence
    uint32_t begin = 0;  // place of the first read
  };
  // Evidence that the epoch was begun somewhere in its midst. Costs all of its draws.
  Score TryMidEpoch(const Sampler& sampler, uint64_t epoch) const;
  // Where in the whole order of an epoch the reads are, from its beginning or from its midst.
  std::vector<PlacedReads> PlacesIn(const IndexOrder& whole, bool from_start) const;

 private:
  // Of an order, to see whether more of it is worth the time: 16 workers with batches of 16. 2.6 us of draws; of wrong
  // orders of 12,000 files one in 2,000 has the first two reads of a process there.
  static constexpr size_t kGlance = 256;

  bool Glance(const IndexOrder& prefix) const;
  Score Weigh(const IndexOrder& order, uint64_t length, bool from_start, std::vector<PlacedReads>* placed) const;

  // Constant after construction.
  const std::shared_ptr<const SampleList> list_;
  IndexReads reads_;
  IndexOrder wanted_;            // all of reads_, ascending, each once
  std::vector<bool> is_wanted_;  // by index
  size_t glance_ = kGlance;
  size_t prefix_ = 0;
  double bits_expected_ = 0;
  double bits_max_ = 0;
};

}  // namespace augur
