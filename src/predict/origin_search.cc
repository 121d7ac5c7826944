// SPDX-License-Identifier: Apache-2.0
#include "predict/origin_search.h"

#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "samplers/mt19937.h"
#include "seed_search/seed_scan.h"

namespace augur {
namespace {

constexpr uint64_t kPartSeeds = (uint64_t{1} << 32) / kOriginParts;
// A loop of one loader comes to output 15 in its fourth epoch, and to 31 in its eighth.
constexpr uint32_t kPassesNear = 4;
constexpr uint32_t kPassesFar = 8;
constexpr uint32_t kPositions = 8;
// Loops that draw 2 to 6 outputs an epoch have come so far when forty of them were not understood.
constexpr uint64_t kStrideMax = 256;

// What the threads have found, without a lock. By chance it is one place for each position, in all parts together.
struct Places {
  std::array<std::atomic<uint64_t>, 64> found = {};  // (position + 1) << 32 | seed
  std::atomic<size_t> count = 0;
};

}  // namespace

std::vector<uint32_t> OriginPositions(uint32_t pass) {
  std::vector<uint32_t> positions;
  if (pass >= kPassesFar) return positions;
  const uint32_t first = pass < kPassesNear ? 1 : 1 + 2 * kPositions;
  for (uint32_t i = 0; i < kPositions; ++i) positions.push_back(first + 2 * i);
  return positions;
}

SearchJob MakeOriginJob(uint32_t value, const std::vector<uint32_t>& positions, uint32_t part,
                        std::function<void(bool whole, std::vector<StreamPosition> places)> done) {
  AUGUR_CHECK(part < kOriginParts && !positions.empty());
  // x % (2^32 - 1) == value says x == value, but for 2^32 - 1 itself, which passes for 0 and is looked at below.
  constexpr uint32_t kAll = std::numeric_limits<uint32_t>::max();
  const SeedQuery query = {
      .samples = kAll, .offsets = positions, .any_of = {{.position = 0, .index = value % kAll}}, .and_any_of = {}};
  const auto places = std::make_shared<Places>();
  SearchJob job;
  job.name = "the seed of the script's own stream, part ";
  job.name += std::to_string(part + 1);
  job.units = kPartSeeds;
  job.range_units = uint64_t{1} << 15;
  job.work = [scan = SeedScan(query), places, value, first = part * kPartSeeds](uint64_t begin, uint64_t count,
                                                                                SearchTurn&) {
    (void)scan.Scan(first + begin, count, [&](uint32_t seed, uint32_t position) {
      Mt19937 stream(seed);
      stream.Discard(position);
      if (stream.Next() != value) return false;
      const size_t slot = places->count.fetch_add(1);
      if (slot < places->found.size()) places->found[slot] = (uint64_t{position} + 1) << 32 | seed;
      return false;
    });
  };
  job.on_done = [places, done = std::move(done)](const SearchOutcome& outcome) {
    std::vector<StreamPosition> found;
    for (const std::atomic<uint64_t>& slot : places->found) {
      const uint64_t item = slot.load();
      if (item == 0) continue;
      found.push_back(
          {.stream_seed = static_cast<uint32_t>(item), .position = (item >> 32) - 1, .stride_max = kStrideMax});
    }
    done(outcome.end == SearchEnd::kExhausted, std::move(found));
  };
  return job;
}

}  // namespace augur
