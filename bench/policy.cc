// SPDX-License-Identifier: Apache-2.0
// What a cache of a share of the data finds of shuffled epochs, by policy: nothing is read, only counted.
//
//   policy_bench [--files N] [--epochs N] [--shares 10,25,50,75] [--seed N] [--sizes equal|lognormal]
//
// Prints a JSON object: for each share and policy the hit rate (of reads, and of bytes) over all epochs but the first,
// which is cold, and what theory says where it is known. Every epoch is a new permutation, independent of the others.
//
//   keep     what came first stays (policy_keep.h); theory: the share that fits
//   belady   needed soonest, the order known to the end (policy_belady.h); theory: the share that fits, too. What
//            an epoch finds, it finds of what is there when it begins, because each file is read once an epoch, and no
//            policy has more there than fits. That the order is known pays by what is read ahead, not by more hits.
//   lru      least recently used goes; theory: c + (1 - c) ln(1 - c), see LruTheory
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <list>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "policy_belady.h"
#include "policy_keep.h"

namespace augur {
namespace {

using Key = uint64_t;

// The least recently used goes. Here alone, because it is nothing that we would use.
class LruPolicy {
 public:
  explicit LruPolicy(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Whether the record is there; afterwards it is, as the one used last.
  bool Use(Key key, uint64_t bytes) {
    const auto found = places_.find(key);
    if (found != places_.end()) {
      used_.splice(used_.begin(), used_, found->second);
      return true;
    }
    if (bytes > bytes_max_) return false;
    while (bytes_ + bytes > bytes_max_) {
      bytes_ -= used_.back().second;
      places_.erase(used_.back().first);
      used_.pop_back();
    }
    used_.emplace_front(key, bytes);
    places_.emplace(key, used_.begin());
    bytes_ += bytes;
    return false;
  }

 private:
  using Used = std::list<std::pair<Key, uint64_t>>;

  const uint64_t bytes_max_;
  uint64_t bytes_ = 0;
  Used used_;  // the last used first
  std::unordered_map<Key, Used::iterator> places_;
};

// A record at place x of one epoch and y of the next (parts of an epoch) has 1 - x others read after it, and y more, of
// which the part 1 - x is the same: 1 - x (1 - y) different ones in between. It is found when that is below the share c
// that fits. x and 1 - y are independent and uniform, and their product is over t with probability 1 - t + t ln t, so
// with t = 1 - c the hit rate is c + (1 - c) ln(1 - c).
double LruTheory(double share) { return share + (share < 1 ? (1 - share) * std::log(1 - share) : 0); }

struct Workload {
  std::vector<uint64_t> bytes;           // of each file
  std::vector<std::vector<Key>> epochs;  // each a permutation
  uint64_t sum = 0;                      // of bytes
};

Workload Make(uint64_t files, unsigned epochs, uint64_t seed, bool equal) {
  std::mt19937_64 random(seed);
  Workload work;
  work.bytes.assign(files, 110'000);
  if (!equal) {
    std::lognormal_distribution<double> sizes(std::log(110'000) - 0.55 * 0.55 / 2, 0.55);  // as bench/dataset.py
    for (uint64_t& bytes : work.bytes) bytes = static_cast<uint64_t>(sizes(random)) + 1;
  }
  work.sum = std::accumulate(work.bytes.begin(), work.bytes.end(), uint64_t{0});
  std::vector<Key> order(files);
  std::iota(order.begin(), order.end(), 0);
  for (unsigned epoch = 0; epoch < epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    work.epochs.push_back(order);
  }
  return work;
}

struct Hits {
  uint64_t reads = 0;
  uint64_t bytes = 0;
};

// Reads all epochs; `use(key, bytes, place)` says whether it was a hit, `place` counting over all epochs.
template <typename Use>
nlohmann::json Run(const Workload& work, Use use) {
  Hits hits;
  uint64_t place = 0;
  for (size_t epoch = 0; epoch < work.epochs.size(); ++epoch) {
    for (const Key key : work.epochs[epoch]) {
      const bool hit = use(key, work.bytes[key], place++);
      if (epoch == 0 || !hit) continue;
      ++hits.reads;
      hits.bytes += work.bytes[key];
    }
  }
  const auto later = static_cast<double>(work.epochs.size() - 1);
  return {{"reads", static_cast<double>(hits.reads) / later / static_cast<double>(work.bytes.size())},
          {"bytes", static_cast<double>(hits.bytes) / later / static_cast<double>(work.sum)}};
}

nlohmann::json Compare(const Workload& work, double share) {
  const auto room = static_cast<uint64_t>(share * static_cast<double>(work.sum));
  KeepPolicy keep(room);
  LruPolicy lru(room);
  BeladyPolicy belady(room);
  // Where each file stands in each epoch, for the place of its next use.
  const size_t files = work.bytes.size();
  AUGUR_CHECK(files > 0);
  std::vector<std::vector<uint64_t>> places(work.epochs.size(), std::vector<uint64_t>(files));
  for (size_t epoch = 0; epoch < work.epochs.size(); ++epoch) {
    for (size_t at = 0; at < files; ++at) places[epoch][work.epochs[epoch][at]] = epoch * files + at;
  }
  const auto next_use = [&](Key key, uint64_t place) {
    const size_t next = place / files + 1;
    return next < places.size() ? places[next][key] : BeladyPolicy::kNever;
  };
  std::vector<Key> evicted;
  return {{"share", share},
          {"keep", Run(work,
                       [&](Key key, uint64_t bytes, uint64_t) {
                         const bool hit = keep.Contains(key);
                         keep.Admit(key, bytes);
                         return hit;
                       })},
          {"belady", Run(work,
                         [&](Key key, uint64_t bytes, uint64_t place) {
                           const bool hit = belady.Contains(key);
                           evicted.clear();
                           belady.Offer(key, bytes, next_use(key, place), &evicted);
                           return hit;
                         })},
          {"lru", Run(work, [&](Key key, uint64_t bytes, uint64_t) { return lru.Use(key, bytes); })},
          {"theory", {{"keep", share}, {"belady", share}, {"lru", LruTheory(share)}}}};
}

int Main(int argc, char** argv) {
  CLI::App app("What a cache of a share of the data finds of shuffled epochs, by policy, as JSON");
  uint64_t files = 100'000;
  unsigned epochs = 4;
  uint64_t seed = 0;
  std::vector<unsigned> shares = {10, 25, 50, 75};
  std::string sizes = "equal";
  app.add_option("--files", files)->check(CLI::Range(1, 1 << 27));
  app.add_option("--epochs", epochs, "the first is cold and not counted")->check(CLI::Range(2, 1000));
  app.add_option("--shares", shares, "per cent of the bytes that fit")->delimiter(',')->check(CLI::Range(1, 100));
  app.add_option("--seed", seed);
  app.add_option("--sizes", sizes, "of the files: all equal, or as photographs are")
      ->check(CLI::IsMember({"equal", "lognormal"}));
  CLI11_PARSE(app, argc, argv);
  const Workload work = Make(files, epochs, seed, sizes == "equal");
  nlohmann::json out = {{"files", files}, {"epochs", epochs}, {"sizes", sizes}, {"shares", nlohmann::json::array()}};
  for (const unsigned share : shares) out["shares"].push_back(Compare(work, share / 100.0));
  std::puts(out.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace augur

// Running out of memory is all that can throw here, and ends the program either way.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) { return augur::Main(argc, argv); }
