// SPDX-License-Identifier: Apache-2.0
#include "prefetch/neighbour_reads.h"

#include <algorithm>
#include <cmath>

namespace augur {
namespace {

// The last files, in which neighbours are looked for: 16 workers that take turns leave four of each.
constexpr size_t kLooked = 64;
// Each time so many more were read.
constexpr uint64_t kReadsToLook = 32;
// Of m files anywhere in an epoch of n, m (m - 1) / n are the next one of another on average, about as Poisson has it:
// this many and twice the mean are there by chance less often than once in 10^6, whatever n is.
constexpr size_t kNeighboursMin = 16;
// And most of the very last, or they are what was read before the reader went elsewhere.
constexpr ptrdiff_t kLatest = 8;
constexpr size_t kLatestMin = 6;
// Those shortly before: a part of the epoch that holds a file by chance seldom, but no fewer than workers are many.
constexpr uint64_t kKnownPart = 16;
constexpr uint64_t kKnownMax = 1024;
// So many reads are judged together. A reader who makes one of 32 of them has 64 neighbours among them. By chance there
// are 5 standard deviations more than the mean, and half of that, once in millions.
constexpr uint64_t kReadsToJudge = 2048;
constexpr double kDeviations = 5;
constexpr double kFollowersMin = 32;

}  // namespace

bool NeighbourReads::Add(const ReadSchedule& schedule, Slot slot, std::pair<Position, Position> epoch) {
  if (known_.contains(slot)) return false;
  Count(schedule, slot, epoch);
  slots_.push_back(slot);
  known_.insert(slot);
  const uint64_t most = std::clamp<uint64_t>((epoch.second - epoch.first) / kKnownPart, kLooked, kKnownMax);
  while (slots_.size() > most) {
    known_.erase(slots_.front());
    slots_.pop_front();
  }
  return reads_ % kReadsToLook == 0;
}

void NeighbourReads::Count(const ReadSchedule& schedule, Slot slot, std::pair<Position, Position> epoch) {
  const auto [begin, end] = epoch;
  const Position at = schedule.NextUse(slot, begin);
  const bool within = at < end;
  const bool follows = within && at > begin && known_.contains(schedule.At(at - 1));
  const bool leads = within && at + 1 < end && known_.contains(schedule.At(at + 1));
  if (follows || leads) ++neighbours_;
  by_chance_ += 2 * static_cast<double>(known_.size()) / static_cast<double>(end - begin);
  if (++reads_ < kReadsToJudge) return;
  lost_ = neighbours_ < by_chance_ + kDeviations * std::sqrt(by_chance_) + kFollowersMin;
  // In an epoch so short everything is near everything.
  if (2 * by_chance_ > static_cast<double>(reads_)) lost_ = false;
  reads_ = 0;
  neighbours_ = by_chance_ = 0;
}

void NeighbourReads::Forget() {
  slots_.clear();
  known_.clear();
}

void NeighbourReads::Clear() { *this = {}; }

std::vector<Position> NeighbourReads::FindIn(const ReadSchedule& schedule, size_t epoch) const {
  const size_t looked = std::min(slots_.size(), kLooked);
  std::vector<Position> positions;
  for (auto slot = slots_.end() - static_cast<ptrdiff_t>(looked); slot != slots_.end(); ++slot) {
    const Position position = schedule.UseIn(*slot, epoch);
    if (position != kNever) positions.push_back(position);
  }
  std::sort(positions.begin(), positions.end());
  std::vector<Position> found;
  size_t neighbours = 0;
  for (size_t i = 0; i < positions.size(); ++i) {
    const bool follows = i > 0 && positions[i] == positions[i - 1] + 1;
    const bool leads = i + 1 < positions.size() && positions[i + 1] == positions[i] + 1;
    if (follows) ++neighbours;
    if (follows || leads) found.push_back(positions[i]);
  }
  const auto [begin, end] = schedule.EpochAt(epoch);
  const size_t by_chance = looked * looked / static_cast<size_t>(end - begin);
  if (neighbours < kNeighboursMin + 2 * by_chance) return {};
  size_t latest = 0;
  for (auto slot = slots_.end() - kLatest; slot != slots_.end(); ++slot) {
    if (std::binary_search(found.begin(), found.end(), schedule.UseIn(*slot, epoch))) ++latest;
  }
  if (latest < kLatestMin) return {};
  return found;
}

}  // namespace augur
