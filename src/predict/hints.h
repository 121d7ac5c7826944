// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "predict/candidate_scorer.h"
#include "predict/identified_order.h"
#include "readers/streams.h"
#include "samplers/sampler_description.h"

namespace augur {

// The hints that the user gave about samplers, and what became of them. A hint is a guess that is tried before all
// others, for the epochs about the one that it names; it waits until some epoch agrees. An epoch that begins after the
// hint was given and does not agree denies it: it is dropped, and that is told until the next order is found. These
// deny nothing:
// - an epoch that was running when the hint was given: the hint may be about the next one;
// - files read in the order of a list: a scan of the data set before the training, a validation pass;
// - once a job has agreed, other jobs, and passes of this one over other samples.
// A hint that names the stream of the seeds but not a place of it waits for the search of that stream.
//
// Not synchronized. Memory: that of kHintsMax samplers.
class Hints {
 public:
  // Each is tried from the middle of an epoch, too. Of 1.28 million files that costs 13 ms (10 ns a draw), 0.2 s for
  // all.
  static constexpr size_t kHintsMax = 16;
  // After this number of reads that agree with nothing, a hint is wrong: three reads of each of 16 workers. Two of the
  // three say 12 bits each in 12,000 files, and 20 are believed.
  static constexpr uint64_t kReadsToDeny = 48;

  // `running`: of each job the pass that it is in. The same hint given again begins anew; beyond kHintsMax the oldest
  // one is dropped.
  void Add(SamplerDescription spec, std::unordered_map<JobId, uint32_t> running);

  // A hint that an earlier daemon was given.
  struct Earlier {
    SamplerDescription spec;
    uint64_t last_epoch = 0;  // that has agreed, or the first one
    std::string list;         // for which one has agreed; empty: none
  };
  // The same of such a hint: the first pass of each job may have been running when it was given.
  void AddEarlier(Earlier earlier);

  bool empty() const { return hints_.empty(); }
  // Of each what the next daemon makes an Earlier of, the newest first: the last epoch, the list, and
  // SamplerDescription::words.
  std::vector<std::vector<std::string>> Words() const;
  // The sampler of a hint that describes itself so; nullptr: there is none.
  std::shared_ptr<const Sampler> Find(std::string_view described) const;
  // The newest hint first.
  std::vector<Guess> Guesses() const;
  // Seeds of the streams that are to be searched for an epoch's seed.
  std::vector<uint32_t> StreamSeeds() const;

  // The epoch of the tests agrees with a hint: from its beginning or, if there are reads enough, from anywhere in it.
  // `expected`: how it may follow from the job's epochs before; of those, a hint's are tried first.
  std::optional<IdentifiedOrder> Answer(std::vector<CandidateScorer> tests, std::vector<Guess> expected) const;

  // Whether a guess is a hint's. The job reads in this order: if it is a hint's, that one is right.
  bool Has(const Guess& guess) const;
  void Agree(JobId job, const IdentifiedOrder& found);
  // The running epoch of the job agrees with no hint; `searching`: a stream may still have its seed.
  void Deny(JobId job, uint32_t pass, const std::vector<CandidateScorer>& tests, bool searching);
  // The stream of this seed was searched for the seed of an epoch of the job.
  void Searched(JobId job, uint32_t pass, uint32_t stream_seed, std::optional<uint64_t> position);
  // The order of a pass of the job was found: what other passes have dropped is told no more, and after a hint that was
  // right nothing is.
  void Found(JobId job, uint32_t pass, const IdentifiedOrder& found);
  void Ended(JobId job);

  // For people.
  std::vector<std::pair<std::string, std::string>> Describe() const;

 private:
  struct Hint {
    SamplerDescription spec;
    std::shared_ptr<const Sampler> sampler;       // what this host reads of it
    std::unordered_map<JobId, uint32_t> running;  // passes that it need not be about
    std::optional<JobId> job;                     // that agrees
    std::string list;                             // of samples, for which one has agreed; empty: none
    uint64_t last_epoch = 0;                      // that has agreed
    bool is_earlier = false;                      // AddEarlier
    std::string seed_place;                       // where the stream had the seed
  };

  bool Denies(const Hint& hint, JobId job, uint32_t pass, const std::vector<CandidateScorer>& tests) const;
  struct Dropped {
    std::string text;
    JobId job = 0;  // whose pass did not agree
    uint32_t pass = 0;
  };
  void Drop(const Hint& hint, const std::string& why, JobId job, uint32_t pass);

  std::vector<Hint> hints_;  // the newest first
  std::vector<Dropped> dropped_;
};

}  // namespace augur
