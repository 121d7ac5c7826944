// SPDX-License-Identifier: Apache-2.0
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "predict/order_predictor.h"
#include "seed_search/chain_scan.h"

// Where a seed that was found by search came from: by that, the seeds of the coming epochs are known.

namespace augur {
namespace {

// As far as a model's first values may move the stream (a ViT-B takes 1.4e8 outputs).
constexpr uint64_t kChainOutputs = 200'000'000;
constexpr uint64_t kChainStep = 10'000'000;

}  // namespace

// Where the script's own generator drew the seed that was found: by that, all later ones are known.
void OrderPredictor::SearchChain(Job& job, const IdentifiedOrder& finding, uint32_t pass) {
  if (!finding.seed) return;
  const uint32_t value = *finding.seed;
  struct Places {
    std::array<std::atomic<uint64_t>, 8> found = {};  // seed's number << 40 | position + 1
    std::atomic<size_t> count = 0;
  };
  const auto places = std::make_shared<Places>();
  const auto seeds = std::make_shared<const std::vector<uint32_t>>(StreamSeeds(hints_.StreamSeeds()));
  const auto hinted = std::make_shared<const std::vector<uint32_t>>(hints_.StreamSeeds());
  const JobId id = job.prediction.id();
  SearchJob search;
  search.name = "the streams of known seeds";
  search.units = seeds->size();
  search.work = [places, seeds, value](uint64_t first, uint64_t count, SearchTurn& turn) {
    for (uint64_t unit = first; unit < first + count; ++unit) {
      ChainScan scan((*seeds)[unit]);
      std::vector<ChainHit> hits;
      while (scan.position() < kChainOutputs) {
        scan.Find(std::span(&value, 1), kChainStep, nullptr, &hits);
        if (!turn.Continue()) return;
      }
      for (const ChainHit& hit : hits) {
        const size_t slot = places->count.fetch_add(1);
        if (slot < places->found.size()) places->found[slot] = unit << 40 | (hit.position + 1);
      }
    }
  };
  search.allowance = job.allowance;
  search.on_done = [this, id, places, seeds, hinted, pass](const SearchOutcome& outcome) {
    if (outcome.end != SearchEnd::kExhausted) return;
    queue_.Post([this, id, places, seeds, hinted, pass] {
      const auto asked = jobs_.find(id);
      if (asked == jobs_.end()) return;
      std::vector<StreamPosition> chain;
      for (const std::atomic<uint64_t>& slot : places->found) {
        const uint64_t item = slot.load();
        if (item == 0) continue;
        chain.push_back({.stream_seed = (*seeds)[item >> 40], .position = (item & ((uint64_t{1} << 40) - 1)) - 1});
        spdlog::debug("the seed may be output {} of torch.manual_seed({})", chain.back().position,
                      chain.back().stream_seed);
      }
      for (const uint32_t seed : *hinted) {
        const auto place = std::ranges::find(chain, seed, &StreamPosition::stream_seed);
        hints_.Searched(id, pass, seed, place == chain.end() ? std::nullopt : std::optional(place->position));
      }
      asked->second->prediction.SetChain(std::move(chain));
    });
  };
  searcher_->Submit(std::move(search));
}

}  // namespace augur
