// SPDX-License-Identifier: Apache-2.0
#include "shuffle/streaming_sampler.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/check.h"
#include "shuffle/numpy_random.h"

namespace augur {
namespace {

// Samples that lie one behind the other in a shard.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - begin; }
};

// What NumPy does to a list of spans: permutes it like the numbers of its places.
void ShuffleSpans(NumpyGenerator* random, std::span<Span> spans) {
  IndexOrder places(spans.size());
  std::iota(places.begin(), places.end(), 0U);
  random->Shuffle(&places);
  const std::vector<Span> before(spans.begin(), spans.end());
  for (size_t i = 0; i < spans.size(); ++i) spans[i] = before[places[i]];
}

// The spans of each canonical node, which get equally many samples: a span at a border is cut there.
std::vector<std::vector<Span>> Divide(const std::vector<Span>& spans, uint64_t samples, uint64_t nodes) {
  std::vector<std::vector<Span>> divided(nodes);
  uint64_t node = 0;
  uint64_t placed = 0;
  for (Span span : spans) {
    while (span.size() > 0) {
      while (placed == samples * (node + 1) / nodes) ++node;
      const uint64_t room = samples * (node + 1) / nodes - placed;
      const auto fits = static_cast<uint32_t>(std::min<uint64_t>(room, span.size()));
      divided[node].push_back({span.begin, span.begin + fits});
      span.begin += fits;
      placed += fits;
    }
  }
  return divided;
}

// Where each sample of a canonical node would like to be: its place, moved by up to half a block.
std::vector<double> Positions(const std::vector<Span>& spans, uint64_t samples, uint64_t block,
                              NumpyGenerator* random) {
  std::vector<double> positions(samples);
  std::iota(positions.begin(), positions.end(), 0.0);
  const auto block_min = static_cast<uint64_t>(0.75 * static_cast<double>(block));
  const auto block_end = static_cast<uint64_t>(1.25 * static_cast<double>(block));
  size_t place = 0;
  for (const Span span : spans) {
    const double drawn = static_cast<double>(block_min + random->Integer(static_cast<uint32_t>(block_end - block_min)));
    const double reach = std::max(0.0, (drawn - span.size()) / 2);
    const double low = std::max(-reach, -static_cast<double>(place));
    const double high = std::min(reach, static_cast<double>(samples - place - span.size()));
    for (uint32_t i = 0; i < span.size(); ++i) positions[place++] += random->Uniform(low, high);
  }
  return positions;
}

}  // namespace

void Py1eOrder(const Py1eRecipe& recipe, const std::vector<uint32_t>& shard_samples, uint64_t epoch,
               IndexOrder* indices) {
  std::vector<Span> shards;
  uint32_t samples = 0;
  for (const uint32_t size : shard_samples) {
    shards.push_back({samples, samples + size});
    samples += size;
  }
  NumpyGenerator run_random(recipe.seed);
  ShuffleSpans(&run_random, shards);
  std::vector<std::vector<Span>> nodes = Divide(shards, samples, recipe.canonical_nodes);

  NumpyGenerator random(recipe.seed + epoch);
  for (std::vector<Span>& spans : nodes) ShuffleSpans(&random, spans);
  indices->clear();
  indices->reserve(samples);
  for (const std::vector<Span>& spans : nodes) {
    IndexOrder ids;
    for (const Span span : spans) {
      IndexOrder own(span.size());
      std::iota(own.begin(), own.end(), span.begin);
      random.Shuffle(&own);
      ids.insert(ids.end(), own.begin(), own.end());
    }
    AUGUR_CHECK(!ids.empty());
    const std::vector<double> positions = Positions(spans, ids.size(), recipe.block_samples, &random);
    IndexOrder by_position(ids.size());
    std::iota(by_position.begin(), by_position.end(), 0U);
    std::ranges::sort(by_position, [&](uint32_t a, uint32_t b) { return positions[a] < positions[b]; });
    for (const uint32_t place : by_position) indices->push_back(ids[place]);
  }
}

StreamingShardSampler::StreamingShardSampler(Py1eRecipe recipe, std::vector<uint32_t> shard_samples)
    : recipe_(recipe), shard_samples_(std::move(shard_samples)) {}

void StreamingShardSampler::Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const {
  AUGUR_CHECK(samples == shard_samples_.size());
  IndexOrder ids;
  Py1eOrder(recipe_, shard_samples_, epoch, &ids);
  std::vector<uint32_t> ends(shard_samples_.size());
  std::partial_sum(shard_samples_.begin(), shard_samples_.end(), ends.begin());
  std::vector<bool> used(samples);
  indices->clear();
  for (const uint32_t id : ids) {
    if (indices->size() == count) return;
    const auto shard = static_cast<uint32_t>(std::ranges::upper_bound(ends, id) - ends.begin());
    if (used[shard]) continue;
    used[shard] = true;
    indices->push_back(shard);
  }
}

std::string StreamingShardSampler::Describe() const {
  return "MosaicML streaming shards, py1e, seed " + std::to_string(recipe_.seed) + " + epoch, " +
         std::to_string(recipe_.canonical_nodes) + " canonical nodes";
}

}  // namespace augur
