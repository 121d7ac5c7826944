// SPDX-License-Identifier: Apache-2.0
#include "predict/order_predictor.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "predict/epoch_reads.h"
#include "predict/guess_text.h"
#include "predict/next_epochs.h"
#include "recorded_runs/replay_check.h"

// What is kept of the orders that were seen, and recognised again.

namespace augur {
namespace {

constexpr size_t kRecordedEpochsMax = 16;
constexpr uint64_t kEpochsRemembered = 16;
constexpr double kReplayBits = CandidateScorer::kBelievedBits;
// An epoch that is the job's last is whole when it has this part of the one before it, or of the list: some reads are
// not seen.
constexpr double kWholePart = 0.95;

}  // namespace

// The runs that were seen may still go on: from the epoch that was read last, or the ones after it.
void OrderPredictor::Remember() {
  const Result<std::vector<ReplayRun>> runs = replay_->List();
  if (!runs.ok()) return;
  for (const ReplayRun& run : *runs) {
    const std::optional<Guess> guess = ParseGuess(run.finding);
    for (uint64_t ahead = 0; guess && ahead < kEpochsRemembered; ++ahead) {
      remembered_.push_back({.sampler = guess->sampler, .epoch = guess->epoch + ahead});
    }
  }
}

// Whether the epoch is one that was recorded.
bool OrderPredictor::AskReplay(Job& job, const EpochStart& epoch) {
  if (!replay_) return false;
  // It reads the records from the disk. Reads behind the first kSeenFiles tell the order, but no other record.
  std::vector<EntryNumber> seen = SeenFiles(epoch);
  if (seen == job.recalled && ReadsOf(epoch) > kReplayReadsMax) return false;
  job.recalled = std::move(seen);
  const Result<std::vector<ReplayMatch>> matches = replay_->Match(job.recalled);
  if (!matches.ok()) return false;
  for (const ReplayMatch& match : *matches) {
    if (match.bits < kReplayBits) return false;
    if (Recall(job, epoch, match)) return job.prediction.locked();
  }
  return false;
}

// False: the record cannot be read, there is no room for it, or the epoch is no replay of it, or not enough of one yet.
bool OrderPredictor::Recall(Job& job, const EpochStart& epoch, const ReplayMatch& match) {
  Result<augur::Run> run = replay_->Load(match.run);
  if (!run.ok() || match.epoch >= run->epochs.size()) return false;
  auto order = std::make_shared<const EpochOrder>(std::move(run->epochs[match.epoch]));
  if (!IsReplay(*order, epoch, job.recalled)) return false;
  IdentifiedOrder finding;
  finding.bits = match.bits;
  finding.run = match.run;
  finding.run_epoch = match.epoch;
  finding.order = std::move(order);
  for (size_t i = match.epoch + 1; i < run->epochs.size(); ++i) {
    finding.recorded.push_back(std::make_shared<const Order>(std::move(run->epochs[i])));
  }
  finding.what = "recorded run " + match.run + (run->finding.empty() ? "" : " (" + run->finding + ")");
  finding.how = "recognised after " + std::to_string(ReadsOf(epoch)) + " reads";
  (void)replay_->Touch(match.run);
  Lock(job, std::move(finding));
  return true;
}

// Keeps the orders of this run for the next one.
void OrderPredictor::Record(Job& job) {
  if (!replay_ || !job.prediction.locked()) return;
  const IdentifiedOrder& finding = job.prediction.finding();
  // An order that is known beforehand need not be remembered, and a recorded one is there.
  if (!finding.run.empty() || (finding.continues && !finding.seed && job.record.epochs.empty())) return;
  job.record.finding = RenderGuess(Unstepped(finding.guess));
  (void)Record(job, finding.order->files());
}

// The same for an epoch whose order was not understood: such a run is recognised by nothing else when it comes again. A
// sampler with replacement looks as if it began anew, so that alone ends no epoch before the list is through; and then
// the epoch may go on, since it may be longer than the list. Of a look at some files nothing is kept, nor of an epoch
// that was broken off: the run that comes again would be known by it, and its end never learnt.
void OrderPredictor::RecordSeen(Job& job, const EpochStart* next) {
  if (!replay_ || job.gap || job.prediction.locked()) return;
  const bool may_go_on = next != nullptr && !next->new_processes;
  // Those of the next epoch, but the last one, which is still to be taken in.
  const uint64_t of_next = next != nullptr ? std::min<uint64_t>(AllReadsOf(*next) - 1, job.seen.size()) : 0;
  const auto end = job.seen.end() - static_cast<std::ptrdiff_t>(of_next);
  const std::span<const EntryNumber> files(job.seen.begin(), end);
  bool whole = false;
  if (files.size() > kSeenFiles) {
    const auto lists = lists_.Candidates(files.first(kSeenFiles), 1);
    const uint64_t size = lists.ok() && !lists->empty() ? lists->front()->size() : files.size();
    if (may_go_on && files.size() < size) return;
    const std::vector<Order>& before = job.record.epochs;
    const auto usual = static_cast<double>(before.empty() ? size : std::min<uint64_t>(size, before.back().size()));
    const double least = next != nullptr ? static_cast<double>(size) / 2 : kWholePart * usual;
    whole = lists.ok() && !lists->empty() && static_cast<double>(files.size()) >= least;
  }
  if (whole) {
    job.cut = Record(job, Order(files.begin(), files.end())) && may_go_on;
  } else if (job.cut) {
    Order& last = job.record.epochs.back();
    // More than that is no rest of an epoch.
    const bool is_rest = files.size() < last.size() / 2;
    if (may_go_on && is_rest) return;
    if (is_rest && HasRoom(job, files.size())) {
      last.insert(last.end(), files.begin(), files.end());
      SaveRecord(job);
    }
    job.cut = false;
  }
  job.seen.erase(job.seen.begin(), end);
}

uint64_t OrderPredictor::RecordBytesMax() const {
  return PredictionFiles(options_.memory_bytes) * kRecordedEpochsMax * sizeof(EntryNumber);
}

// Whether so many more files can be recorded: what is more could not be loaded again.
bool OrderPredictor::HasRoom(const Job& job, uint64_t files) const {
  for (const Order& epoch : job.record.epochs) files += epoch.size();
  return files * sizeof(EntryNumber) <= RecordBytesMax();
}

// False: there is no room for it.
bool OrderPredictor::Record(Job& job, Order files) {
  if (job.record.epochs.size() >= kRecordedEpochsMax || !HasRoom(job, files.size())) return false;
  job.record.epochs.push_back(std::move(files));
  SaveRecord(job);
  return true;
}

void OrderPredictor::SaveRecord(Job& job) {
  if (job.record_name.empty()) job.record_name = ReplayStore::NewName();
  const Status status = replay_->Save(job.record_name, job.record);
  if (!status.ok()) spdlog::info("the order is not remembered: {}", status.text());
}

}  // namespace augur
