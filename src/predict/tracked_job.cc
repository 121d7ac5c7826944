// SPDX-License-Identifier: Apache-2.0
#include "predict/tracked_job.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "predict/epoch_reads.h"

namespace augur {
namespace {

// Of what a job has read. A job that is not understood may have read millions, and this is done for each few reads. 64
// reads of each of 64 streams: of a stream no more is compared with a candidate.
constexpr size_t kReadsLookedAt = 4096;

// The opens that are this job's because they can be no other one's: the watch does not know that.
void AddUnattributed(const JobPredictor& job, EpochStart* epoch) {
  if (job.id() == 0 || std::ranges::any_of(epoch->streams, [](const EpochStream& stream) { return stream.id == 0; })) {
    return;
  }
  EpochStream unattributed;
  const std::span<const UnpredictedRead> reads = job.reads();
  for (const UnpredictedRead& read : reads.first(std::min(reads.size(), kReadsLookedAt))) {
    if (read.stream == 0) unattributed.reads.push_back({.file = read.file});
  }
  unattributed.read_count = unattributed.reads.size();
  if (!unattributed.reads.empty()) epoch->streams.push_back(std::move(unattributed));
}

}  // namespace

std::optional<EpochStart> TrackedJob::UnknownPass(const EpochWatch& watch) const {
  if (known()) return std::nullopt;
  std::optional<EpochStart> epoch = watch.Running(id());
  if (!epoch) return epoch;
  if (passes_known <= epoch->pass) {
    AddUnattributed(prediction, &*epoch);
    return epoch;
  }
  // Where the reader has gone elsewhere and no beginning was seen, its reads since then are all that is known.
  EpochStart unpredicted = prediction.Unpredicted();
  unpredicted.pass = epoch->pass;
  unpredicted.epoch = epoch->epoch;
  return unpredicted;
}

// Each wake asks this, so the reads are not copied for it.
uint64_t TrackedJob::UnknownReads(const EpochWatch& watch) const {
  if (known()) return 0;
  const std::optional<EpochWatch::Kept> kept = watch.KeptReads(id());
  if (!kept) return 0;
  const uint64_t reads = std::min<uint64_t>(prediction.reads().size(), kReadsLookedAt);
  return passes_known > kept->pass ? reads : std::max(kept->reads, reads);
}

void TrackedJob::MarkPass(const EpochWatch& watch) {
  const std::optional<EpochStart> epoch = watch.Running(id());
  if (!epoch) return;
  if (AllReadsOf(*epoch) > 4 * (prediction.reads().size() + JobSearch::kReadsFirst)) {
    passes_known = std::max(passes_known, epoch->pass + 1);
  }
}

void TrackedJob::SetPassKnown(const EpochWatch& watch) {
  if (const std::optional<EpochStart> epoch = watch.Running(id())) passes_known = epoch->pass + 1;
}

}  // namespace augur
