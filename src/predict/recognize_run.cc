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

// A run that is resumed. 64 recorded runs are 1,024 candidates, as many as those of all known samplers (900, 5 ms).
constexpr uint64_t kEpochsAhead = 16;

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

std::optional<IdentifiedOrder> LoadRecorded(const ReplayStore& runs, const std::string& run, uint64_t epoch) {
  Result<Run> record = runs.Load(run);
  if (!record.ok() || epoch >= record->epochs.size()) return std::nullopt;
  IdentifiedOrder loaded;
  loaded.run = run;
  loaded.run_epoch = epoch;
  loaded.order = std::make_shared<const EpochOrder>(std::move(record->epochs[epoch]));
  for (size_t i = epoch + 1; i < record->epochs.size(); ++i) {
    loaded.recorded.push_back(std::make_shared<const Order>(std::move(record->epochs[i])));
  }
  loaded.what = "recorded run " + run + (record->finding.empty() ? "" : " (" + record->finding + ")");
  return loaded;
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
    std::optional<IdentifiedOrder> found = LoadRecorded(runs, match.run, match.epoch);
    if (!found || !IsReplay(*found->order, epoch, *tried)) continue;
    found->bits = match.bits;
    found->how = "recognised after " + std::to_string(ReadsOf(epoch)) + " reads";
    (void)runs.Touch(match.run);
    return found;
  }
  return std::nullopt;
}

}  // namespace augur
