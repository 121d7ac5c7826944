// SPDX-License-Identifier: Apache-2.0
#include "predict/recognize_run.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "predict/candidate_scorer.h"
#include "predict/epoch_reads.h"
#include "predict/guess_text.h"
#include "recorded_runs/replay_check.h"

namespace augur {
namespace {

constexpr uint64_t kEpochsAhead = 16;

// None: the record cannot be read, there is no room for it, or the epoch is no replay of it, or not enough of one yet.
std::optional<IdentifiedOrder> Recall(ReplayStore& runs, const EpochStart& epoch, const std::vector<EntryNumber>& seen,
                                      const ReplayMatch& match) {
  Result<Run> run = runs.Load(match.run);
  if (!run.ok() || match.epoch >= run->epochs.size()) return std::nullopt;
  auto order = std::make_shared<const EpochOrder>(std::move(run->epochs[match.epoch]));
  if (!IsReplay(*order, epoch, seen)) return std::nullopt;
  IdentifiedOrder found;
  found.bits = match.bits;
  found.run = match.run;
  found.run_epoch = match.epoch;
  found.order = std::move(order);
  for (size_t i = match.epoch + 1; i < run->epochs.size(); ++i) {
    found.recorded.push_back(std::make_shared<const Order>(std::move(run->epochs[i])));
  }
  found.what = "recorded run " + match.run + (run->finding.empty() ? "" : " (" + run->finding + ")");
  found.how = "recognised after " + std::to_string(ReadsOf(epoch)) + " reads";
  (void)runs.Touch(match.run);
  return found;
}

}  // namespace

std::vector<Guess> ContinuationsOf(const ReplayStore& runs) {
  std::vector<Guess> guesses;
  const Result<std::vector<ReplayRun>> list = runs.List();
  if (!list.ok()) return guesses;
  for (const ReplayRun& run : *list) {
    const std::optional<Guess> guess = ParseGuess(run.finding);
    for (uint64_t ahead = 0; guess && ahead < kEpochsAhead; ++ahead) {
      guesses.push_back({.sampler = guess->sampler, .epoch = guess->epoch + ahead});
    }
  }
  return guesses;
}

// Reads behind the first kSeenFiles tell the order, but no other record.
std::optional<IdentifiedOrder> RecognizeRun(ReplayStore& runs, const EpochStart& epoch,
                                            std::vector<EntryNumber>* tried) {
  std::vector<EntryNumber> seen = SeenFiles(epoch);
  if (seen == *tried && ReadsOf(epoch) > kReplayReadsMax) return std::nullopt;
  *tried = std::move(seen);
  const Result<std::vector<ReplayMatch>> matches = runs.Match(*tried);
  if (!matches.ok()) return std::nullopt;
  for (const ReplayMatch& match : *matches) {
    if (match.bits < CandidateScorer::kBelievedBits) return std::nullopt;
    if (std::optional<IdentifiedOrder> found = Recall(runs, epoch, *tried, match)) return found;
  }
  return std::nullopt;
}

}  // namespace augur
