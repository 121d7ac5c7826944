// SPDX-License-Identifier: Apache-2.0
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "predict/order_predictor.h"
#include "predict/origin_search.h"
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
  // Once a job: in a stream that cannot be found so, another seed of it tells no more. It comes behind this search.
  if (std::vector<uint32_t> positions = OriginPositions(pass); !job.origin_sought && !positions.empty()) {
    job.origin_sought = true;
    job.origin = std::make_unique<Origin>(
        Origin{.value = value, .positions = std::move(positions), .list = finding.list->name()});
    Charge();
    job.paid_before = job.paid;
    SetPrice();
  }
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
  search.on_done = [this, id, places, seeds, hinted, pass](const SearchOutcome& outcome) {
    if (outcome.end == SearchEnd::kCancelled) return;
    Post([this, id, places, seeds, hinted, pass] {
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
      if (asked->second->origin && asked->second->origin->search == 0) SeekOriginPart(*asked->second);
    });
  };
  searcher_->Submit(std::move(search));
}

void OrderPredictor::SeekOriginPart(Job& job) {
  const JobId id = job.prediction.id();
  Origin& origin = *job.origin;
  origin.search = searcher_->Submit(MakeOriginJob(
      origin.value, origin.positions, origin.part, [this, id](bool whole, std::vector<StreamPosition> places) {
        Post([this, id, whole, found = std::make_shared<const std::vector<StreamPosition>>(std::move(places))] {
          const auto asked = jobs_.find(id);
          if (asked != jobs_.end() && asked->second->origin) EndOriginPart(*asked->second, whole, *found);
        });
      }));
}

void OrderPredictor::EndOriginPart(Job& job, bool whole, const std::vector<StreamPosition>& places) {
  Origin& origin = *job.origin;
  for (const StreamPosition& place : places) {
    spdlog::debug("the seed may be output {} of a generator of seed {}", place.position, place.stream_seed);
  }
  origin.places.insert(origin.places.end(), places.begin(), places.end());
  if (!places.empty()) job.prediction.SetOrigin(origin.places);
  const bool ends = !whole || ++origin.part == kOriginParts;
  if (ends) {
    Charge();
    job.origin.reset();
    SetPrice();
  }
  // The running epoch may be known by these places, or is searched for now.
  if (!job.prediction.locked() && (ends || !places.empty())) job.AskAnew();
  if (!ends) SeekOriginPart(job);
}

// The epoch has ended before its seed was found. That says how the coming ones are drawn all the same, if the script
// drew it from a stream that can be found: it is searched for on.
bool OrderPredictor::SearchOn(Job& job) {
  if (job.origin_sought || job.late || !job.inquiry->searching_seeds() || OriginPositions(job.question_pass).empty()) {
    return false;
  }
  job.late = std::move(job.inquiry);
  job.late->SeedsOnly();
  return true;
}

void OrderPredictor::AnswerLate(Job& job, const std::optional<IdentifiedOrder>& finding) {
  Charge();
  job.late.reset();
  SetPrice();
  if (!finding || !finding->seed || finding->offset != 0) {
    // It had all the time that it takes, and no epoch after it would be another one.
    ++job.searches_failed;
    if (!job.prediction.locked()) job.AskAnew();
    return;
  }
  spdlog::info("the order of an epoch that has ended is known: {}, {}", finding->what, finding->how);
  IdentifiedOrder of_before = *finding;
  of_before.nth = job.question_epoch;
  job.prediction.Remember(of_before);
  SearchChain(job, *finding, job.question_pass);
}

// Whether the job reads an epoch of this list, and it is known how the coming ones are drawn.
bool OrderPredictor::IsKnown(const Job& job, const std::string& list) {
  if (!job.prediction.locked()) return false;
  const IdentifiedOrder& finding = job.prediction.finding();
  return !finding.seed && finding.list && finding.list->name() == list;
}

void OrderPredictor::DropOrigin(Job& job) {
  if (job.origin) searcher_->Cancel(job.origin->search);
  job.origin.reset();
  if (job.late) job.late->Cancel();
  job.late.reset();
}

}  // namespace augur
