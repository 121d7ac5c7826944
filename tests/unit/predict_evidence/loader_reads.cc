// SPDX-License-Identifier: Apache-2.0
#include "unit/predict_evidence/loader_reads.h"

#include <algorithm>
#include <deque>
#include <numeric>

namespace augur {
namespace {

// One process with its workers.
struct Rank {
  std::vector<std::vector<uint32_t>> batches;
  std::vector<std::deque<size_t>> queued;  // of each worker, batches that it has not read to the end
  std::vector<size_t> at;                  // of each worker, how much of its first batch is read
  std::vector<bool> done;                  // by batch
  size_t sent = 0;
  size_t consumed = 0;

  void Send(const LoaderPlan& plan) {
    while (consumed < sent && done[consumed]) ++consumed;
    while (sent < batches.size() && sent < consumed + plan.workers * plan.prefetch) {
      queued[sent % plan.workers].push_back(sent);
      ++sent;
    }
  }
};

}  // namespace

std::vector<LoaderRead> LoaderReads(uint32_t count, const LoaderPlan& plan, std::mt19937_64& random) {
  std::vector<Rank> ranks(plan.ranks);
  for (size_t r = 0; r < plan.ranks; ++r) {
    Rank& rank = ranks[r];
    for (size_t i = 0, place = r; place < count; ++i, place += plan.ranks) {
      if (i % plan.batch == 0) rank.batches.emplace_back();
      rank.batches.back().push_back(static_cast<uint32_t>(place));
    }
    rank.queued.resize(plan.workers);
    rank.at.resize(plan.workers);
    rank.done.resize(rank.batches.size());
    rank.Send(plan);
  }
  std::vector<LoaderRead> reads;
  std::bernoulli_distribution unseen(plan.unseen);
  while (true) {
    std::vector<std::pair<size_t, size_t>> ready;
    for (size_t r = 0; r < plan.ranks; ++r) {
      for (size_t w = 0; w < plan.workers; ++w) {
        if (!ranks[r].queued[w].empty()) ready.emplace_back(r, w);
      }
    }
    if (ready.empty()) return reads;
    const auto [r, w] = ready[random() % ready.size()];
    Rank& rank = ranks[r];
    const size_t batch = rank.queued[w].front();
    const uint32_t place = rank.batches[batch][rank.at[w]];
    if (!unseen(random)) {
      reads.push_back({.place = place, .stream = plan.named ? static_cast<uint32_t>(1 + r * plan.workers + w) : 0});
    }
    if (++rank.at[w] < rank.batches[batch].size()) continue;
    rank.at[w] = 0;
    rank.done[batch] = true;
    rank.queued[w].pop_front();
    rank.Send(plan);
  }
}

Order RandomOrder(uint32_t count, std::mt19937_64& random) {
  Order order(count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

}  // namespace augur
