// SPDX-License-Identifier: Apache-2.0
#include "predict/stream_search.h"

#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "seed_search/mt19937_scan.h"

namespace augur {
namespace {

// As far as a model's first values may move the stream (a ViT-B takes 1.4e8 outputs).
constexpr uint64_t kOutputs = 200'000'000;
// After which the search may be stopped or leave its core: 2 ms at 5,300 million outputs a second (AVX2; 56 ms without
// vector instructions).
constexpr uint64_t kStep = 10'000'000;

// The streams, and the places that the threads of the search have found. Without a lock that one of them might be
// stopped with.
class StreamScan {
 public:
  StreamScan(uint32_t seed, std::vector<uint32_t> streams) : seed_(seed), streams_(std::move(streams)) {}

  size_t size() const { return streams_.size(); }

  // False: the search has ended.
  bool Search(uint64_t stream, SearchTurn& turn) {
    Mt19937Scan scan(streams_[stream]);
    std::vector<uint64_t> hits;
    while (scan.position() < kOutputs) {
      scan.Find(seed_, kStep, nullptr, &hits);
      if (!turn.Continue()) return false;
    }
    for (const uint64_t hit : hits) {
      const size_t slot = count_.fetch_add(1);
      if (slot < found_.size()) found_[slot] = stream << kPositionBits | (hit + 1);
    }
    return true;
  }

  std::vector<StreamPosition> Found() const {
    std::vector<StreamPosition> places;
    for (const std::atomic<uint64_t>& slot : found_) {
      const uint64_t item = slot.load();
      if (item == 0) continue;
      const uint64_t position = (item & ((uint64_t{1} << kPositionBits) - 1)) - 1;
      places.push_back({.stream_seed = streams_[item >> kPositionBits], .position = position});
      spdlog::debug("the seed may be output {} of torch.manual_seed({})", position, places.back().stream_seed);
    }
    return places;
  }

 private:
  static constexpr unsigned kPositionBits = 40;

  // Constant after construction.
  const uint32_t seed_;
  const std::vector<uint32_t> streams_;

  std::array<std::atomic<uint64_t>, 8> found_ = {};  // stream's number << kPositionBits | position + 1
  std::atomic<size_t> count_ = 0;
};

}  // namespace

SearchJob MakeStreamSearchJob(uint32_t seed, const std::vector<uint32_t>& hinted,
                              std::function<void(std::vector<StreamPosition>)> done) {
  const auto scan = std::make_shared<StreamScan>(seed, StreamSeeds(hinted));
  SearchJob job;
  job.name = "the streams of known seeds";
  job.units = scan->size();
  job.work = [scan](uint64_t first, uint64_t count, SearchTurn& turn) {
    for (uint64_t stream = first; stream < first + count; ++stream) {
      if (!scan->Search(stream, turn)) return;
    }
  };
  job.on_done = [scan, done = std::move(done)](const SearchOutcome& outcome) {
    if (outcome.end == SearchEnd::kExhausted) done(scan->Found());
  };
  return job;
}

}  // namespace augur
