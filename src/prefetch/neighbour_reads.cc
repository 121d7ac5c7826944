// SPDX-License-Identifier: Apache-2.0
#include "prefetch/neighbour_reads.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace augur {
namespace {

// The last files, in which neighbours are looked for: 16 workers that take turns leave four of each.
constexpr size_t kLooked = 64;
// Each time so many more were read: half of them are new then. A look is 64 look-ups in each queued epoch, two a read.
constexpr uint64_t kReadsToLook = 32;
// Of m files anywhere in an epoch of n, m (m - 1) / n are the next one of another on average, about as Poisson has it:
// this many and twice the mean are there by chance less often than once in 10^6, whatever n is.
constexpr size_t kNeighboursMin = 16;
// And most of the very last, or they are what was read before the reader went elsewhere. Two of the last eight may be a
// stranger's, or the first of a batch.
constexpr ptrdiff_t kLatest = 8;
constexpr ptrdiff_t kLatestMin = 6;
// Those shortly before: a part of the epoch that holds a file by chance seldom (once in 16 reads), but no fewer than
// workers are many: 1,024 files of 16 workers with two batches of 32 each (ReaderPositionOptions::spread_max).
constexpr uint64_t kKnownPart = 16;
constexpr uint64_t kKnownMax = 1024;
// So many reads are judged together. A reader who makes one of 32 of them has 64 neighbours among them. By chance there
// are 5 standard deviations more than the mean, and half of that, once in millions.
constexpr uint64_t kReadsToJudge = 2048;
constexpr double kDeviations = 5;
constexpr double kFollowersMin = 32;

}  // namespace

bool NeighbourReads::Add(EntryNumber file, const EpochOrder& order) {
  if (known_.contains(file)) return false;
  Count(file, order);
  files_.push_back(file);
  known_.insert(file);
  const uint64_t most = std::clamp<uint64_t>(order.size() / kKnownPart, kLooked, kKnownMax);
  while (files_.size() > most) {
    known_.erase(files_.front());
    files_.pop_front();
  }
  return reads_ % kReadsToLook == 0;
}

void NeighbourReads::Count(EntryNumber file, const EpochOrder& order) {
  const Order& files = order.files();
  const std::optional<uint32_t> place = order.PlaceFrom(file, 0);
  const bool follows = place && *place > 0 && known_.contains(files[*place - 1]);
  const bool leads = place && *place + 1 < files.size() && known_.contains(files[*place + 1]);
  if (follows || leads) ++neighbours_;
  by_chance_ += 2 * static_cast<double>(known_.size()) / static_cast<double>(files.size());
  if (++reads_ < kReadsToJudge) return;
  lost_ = neighbours_ < by_chance_ + kDeviations * std::sqrt(by_chance_) + kFollowersMin;
  // In an epoch so short everything is near everything.
  if (2 * by_chance_ > static_cast<double>(reads_)) lost_ = false;
  reads_ = 0;
  neighbours_ = by_chance_ = 0;
}

void NeighbourReads::Forget() {
  files_.clear();
  known_.clear();
}

void NeighbourReads::Clear() { *this = {}; }

std::vector<uint32_t> NeighbourReads::FindIn(const EpochOrder& order) const {
  const size_t looked = std::min(files_.size(), kLooked);
  std::vector<uint32_t> places;
  for (auto file = files_.end() - static_cast<ptrdiff_t>(looked); file != files_.end(); ++file) {
    if (const std::optional<uint32_t> place = order.PlaceFrom(*file, 0)) places.push_back(*place);
  }
  std::sort(places.begin(), places.end());
  std::vector<uint32_t> found;
  size_t neighbours = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    const bool follows = i > 0 && places[i] == places[i - 1] + 1;
    const bool leads = i + 1 < places.size() && places[i + 1] == places[i] + 1;
    if (follows) ++neighbours;
    if (follows || leads) found.push_back(places[i]);
  }
  if (neighbours < kNeighboursMin + 2 * (looked * looked / order.size())) return {};
  const auto is_found = [&](EntryNumber file) {
    const std::optional<uint32_t> place = order.PlaceFrom(file, 0);
    return place && std::ranges::binary_search(found, *place);
  };
  if (std::count_if(files_.end() - kLatest, files_.end(), is_found) < kLatestMin) return {};
  return found;
}

}  // namespace augur
