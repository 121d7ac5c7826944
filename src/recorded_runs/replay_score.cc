// SPDX-License-Identifier: Apache-2.0
#include "recorded_runs/replay_score.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace augur {
namespace {

constexpr double kStrangers = 1.0 / 16;  // of the reads
// Samplers that repeat (RepeatAug) read a sample again at once, ranks and workers apart.
constexpr uint64_t kCopiesWithin = 64;  // places

// Where the file is in the order, first, and how often it comes there, copies apart.
struct Place {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t count = 0;
};

using Places = std::unordered_map<EntryNumber, Place>;

// Adds position `at` of the file.
void AddPlace(uint64_t at, Place* place) {
  if (place->count == 0) place->first = at;
  if (place->count == 0 || at - place->last > kCopiesWithin) ++place->count;
  place->last = at;
}

double BitsOfHit(double chance) { return std::log2((1 - kStrangers) / chance + kStrangers); }
const double kBitsOfMiss = std::log2(kStrangers);

}  // namespace

double BitsOfBeginning(std::span<const EntryNumber> seen, const ReplayEpoch& epoch) {
  seen = seen.first(std::min(seen.size(), kScoredReadsMax));
  const auto files = static_cast<double>(epoch.files);
  const size_t window_max = std::min<uint64_t>(epoch.head.size(), epoch.files / 2);
  if (seen.empty() || window_max == 0) return 0;
  Places places;
  places.reserve(epoch.head.size());
  bool repeats = false;
  for (size_t at = 0; at < epoch.head.size(); ++at) {
    Place& place = places[epoch.head[at]];
    AddPlace(at, &place);
    repeats = repeats || place.count > 1;
  }
  double best = 0;
  int tries = 0;
  for (size_t window = std::min(seen.size(), window_max);; window = std::min(2 * window, window_max)) {
    const auto width = static_cast<double>(window);
    double bits = 0;
    for (const EntryNumber file : seen) {
      const auto place = places.find(file);
      if (place == places.end() || place->second.first >= window) {
        bits += kBitsOfMiss;
        continue;
      }
      double chance = width / files;
      if (repeats) {
        const double expected =
            static_cast<double>(place->second.count) * width / static_cast<double>(epoch.head.size());
        chance = std::max(chance, 1 - std::exp(-expected));
      }
      bits += BitsOfHit(chance);
    }
    ++tries;
    best = std::max(best, bits);
    if (window == window_max) break;
  }
  return best - std::log2(tries);
}

}  // namespace augur
