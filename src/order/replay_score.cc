// SPDX-License-Identifier: Apache-2.0
#include "order/replay_score.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

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

ReplayScore ScoreBeginning(std::span<const EntryNumber> seen, const ReplayEpoch& epoch) {
  seen = seen.first(std::min(seen.size(), kScoredReadsMax));
  const auto files = static_cast<double>(epoch.files);
  const size_t window_max = std::min<uint64_t>(epoch.head.size(), epoch.files / 2);
  if (seen.empty() || window_max == 0) return {};
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
  return {.bits = best - std::log2(tries), .begin = 0};
}

ReplayScore ScoreAnywhere(std::span<const EntryNumber> seen, const Order& epoch) {
  seen = seen.first(std::min(seen.size(), kScoredReadsMax));
  const uint64_t window_max = epoch.size() / 2;
  if (seen.empty() || window_max == 0) return {};
  Places places;
  for (const EntryNumber file : seen) places[file] = {};
  for (size_t at = 0; at < epoch.size(); ++at) {
    const auto place = places.find(epoch[at]);
    if (place != places.end()) AddPlace(at, &place->second);
  }
  std::vector<uint64_t> hits;
  size_t reads = 0;  // that tell something
  for (const auto& [file, place] : places) {
    if (place.count <= 1) ++reads;
    if (place.count == 1) hits.push_back(place.first);
  }
  std::sort(hits.begin(), hits.end());
  ReplayScore best;
  int tries = 0;
  for (uint64_t window = std::min<uint64_t>(seen.size(), window_max);; window = std::min(2 * window, window_max)) {
    ++tries;
    const double chance = static_cast<double>(window) / static_cast<double>(epoch.size());
    size_t begin = 0;
    for (size_t end = 1; end <= hits.size(); ++end) {
      while (hits[end - 1] - hits[begin] >= window) ++begin;
      const auto inside = static_cast<double>(end - begin);
      const double bits =
          inside * BitsOfHit(chance) + (static_cast<double>(reads) - inside) * kBitsOfMiss - std::log2(2 / chance);
      if (bits > best.bits) best = {.bits = bits, .begin = hits[begin]};
    }
    if (window == window_max) break;
  }
  best.bits -= std::log2(tries);
  return best;
}

}  // namespace augur
