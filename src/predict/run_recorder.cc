// SPDX-License-Identifier: Apache-2.0
#include "predict/run_recorder.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "predict/epoch_reads.h"
#include "predict/guess_text.h"
#include "predict/next_epochs.h"

namespace augur {
namespace {

// Reads of an epoch that is not understood that are kept, for each file that there is memory for: a sampler with
// replacement may draw more than the list has, and the open of a file is not always known for that of the READ.
constexpr uint64_t kSeenAFile = 2;
// An epoch that is the job's last is whole when it has this part of the one before it, or of the list: some reads are
// not seen.
constexpr double kWholePart = 0.95;

}  // namespace

void RunRecorder::OnRead(EntryNumber file) {
  if (options_.runs == nullptr || gap_ || seen_.size() >= kSeenAFile * options_.files_max) return;
  seen_.push_back(file);
}

void RunRecorder::Missed() {
  gap_ = true;
  seen_ = {};
}

void RunRecorder::RecordKnown(const IdentifiedOrder& known) {
  seen_ = {};
  cut_ = false;
  if (options_.runs == nullptr) return;
  // An order that is known beforehand need not be remembered, and a recorded one is there.
  if (!known.run.empty() || (known.continues && !known.seed && record_.epochs.empty())) return;
  record_.finding = RenderGuess(Unstepped(known.guess));
  (void)Record(known.order->files());
}

// A sampler with replacement looks as if it began anew, so that alone ends no epoch before the list is through; and
// then the epoch may go on, since it may be longer than the list.
void RunRecorder::RecordSeen(const EpochStart* next) {
  if (options_.runs == nullptr || gap_) return;
  const bool may_go_on = next != nullptr && !next->new_processes;
  // Those of the next epoch, but the last one, which is still to be taken in.
  const uint64_t of_next = next != nullptr ? std::min<uint64_t>(AllReadsOf(*next) - 1, seen_.size()) : 0;
  const auto end = seen_.end() - static_cast<std::ptrdiff_t>(of_next);
  const std::span<const EntryNumber> files(seen_.begin(), end);
  bool whole = false;
  if (files.size() > kSeenFiles) {
    const auto lists = options_.lists->Candidates(files.first(kSeenFiles), 1);
    const uint64_t size = lists.ok() && !lists->empty() ? lists->front()->size() : files.size();
    if (may_go_on && files.size() < size) return;
    const std::vector<Order>& before = record_.epochs;
    const auto usual = static_cast<double>(before.empty() ? size : std::min<uint64_t>(size, before.back().size()));
    const double least = next != nullptr ? static_cast<double>(size) / 2 : kWholePart * usual;
    whole = lists.ok() && !lists->empty() && static_cast<double>(files.size()) >= least;
  }
  if (whole) {
    cut_ = Record(Order(files.begin(), files.end())) && may_go_on;
  } else if (cut_) {
    Order& last = record_.epochs.back();
    // More than that is no rest of an epoch.
    const bool is_rest = files.size() < last.size() / 2;
    if (may_go_on && is_rest) return;
    if (is_rest && HasRoom(files.size())) {
      last.insert(last.end(), files.begin(), files.end());
      Save();
    }
    cut_ = false;
  }
  seen_.erase(seen_.begin(), end);
}

// Whether this number of files can still be recorded: a larger record could not be loaded again.
bool RunRecorder::HasRoom(uint64_t files) const {
  for (const Order& epoch : record_.epochs) files += epoch.size();
  return files * sizeof(EntryNumber) <= BytesMax(options_.files_max);
}

// False: there is no room for it.
bool RunRecorder::Record(Order files) {
  if (record_.epochs.size() >= kEpochsMax || !HasRoom(files.size())) return false;
  record_.epochs.push_back(std::move(files));
  Save();
  return true;
}

void RunRecorder::Save() {
  if (name_.empty()) name_ = ReplayStore::NewName();
  const Status status = options_.runs->Save(name_, record_);
  if (!status.ok()) spdlog::info("the order is not remembered: {}", status.text());
}

}  // namespace augur
