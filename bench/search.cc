// SPDX-License-Identifier: Apache-2.0
// What the search of seeds costs, and what it takes from who computes beside it. Prints one JSON object.
//
//   search_bench [--seeds N] [--rounds N] [--whole] [--busy SECONDS]
//
// Rates are by processor time of the one thread that works, so that other load of the machine matters little (it does
// matter by way of caches, sibling threads and clock rates: "load" has the load average). A round measures everything
// once, one after the other; median, least and most of the rounds are given.
//
//   plain   one seed after the other, a loop of this file, as the compiler leaves it
//   seeds   SeedScan with each set of vector instructions that the processor has, for one clue, and for eight
//   outputs those of mt19937 that Mt19937Scan compares with one value, and a plain loop of std::mt19937
//   whole   all 2^32 seeds once on one core (--whole)
//   busy    a busy loop on every core, and beside it a Searcher: what part of the loops' speed is left (against the
//           loops alone, in the same round), what the Searcher got of a core, and how long all 2^32 seeds would take
//           (--busy)
#include <hwy/targets.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "augur/status.h"
#include "base/cores.h"
#include "seed_search/mt19937_scan.h"
#include "seed_search/running_job.h"
#include "seed_search/searcher.h"
#include "seed_search/seed_scan.h"

namespace augur {
namespace {

constexpr double kAllSeeds = 4294967296.0;
constexpr uint32_t kSamples = 50'000;

struct Arguments {
  uint64_t seeds = 1 << 24;
  int rounds = 5;
  bool whole = false;
  double busy_seconds = 0;
};

double Seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// Units of work by second of this thread's processor time.
template <typename Work>
double Rate(double units, const Work& work) {
  const auto begin = ThreadTime();
  work();
  return units / Seconds(ThreadTime() - begin);
}

nlohmann::json Spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {{"median", values[values.size() / 2]}, {"least", values.front()}, {"most", values.back()}};
}

SeedQuery Query(uint32_t clues) {
  SeedQuery query{.samples = kSamples};
  for (uint32_t i = 0; i < clues; ++i) query.any_of.push_back({i, 1000 + 77 * i});
  return query;
}

// How many of the first seeds begin their permutation with sample 1,000: the search as one would first write it.
uint64_t PlainScan(uint64_t seeds) {
  uint64_t found = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    auto word = static_cast<uint32_t>(seed);
    const uint32_t first = word;
    uint32_t second = 0;
    for (uint32_t j = 1; j <= 397; ++j) {
      word = 1812433253U * (word ^ (word >> 30)) + j;
      if (j == 1) second = word;
    }
    uint32_t output = word ^ (((first & 0x80000000U) | (second & 0x7fffffffU)) >> 1) ^ ((second & 1) * 0x9908b0dfU);
    output ^= output >> 11;
    output ^= (output << 7) & 0x9d2c5680U;
    output ^= (output << 15) & 0xefc60000U;
    output ^= output >> 18;
    found += output % kSamples == 1000;
  }
  return found;
}

uint64_t VectorScan(uint32_t clues, uint64_t seeds) {
  uint64_t found = 0;
  (void)SeedScan(Query(clues)).Scan(0, seeds, [&](uint32_t, uint32_t) {
    ++found;
    return false;
  });
  return found;
}

std::vector<int64_t> Targets() {
  std::vector<int64_t> targets;
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) targets.push_back(rest & -rest);
  return targets;
}

void Choose(int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

nlohmann::json MeasureRates(const Arguments& arguments) {
  std::map<std::string, std::vector<double>> rates;
  uint64_t found_plain = 0;
  uint64_t found = 0;
  for (int round = 0; round < arguments.rounds; ++round) {
    // The plain loops are slow: a part of the seeds will do.
    const uint64_t plain_seeds = arguments.seeds / 8;
    rates["plain seeds"].push_back(
        Rate(static_cast<double>(plain_seeds), [&] { found_plain = PlainScan(plain_seeds); }));
    std::mt19937 random(42);
    uint64_t equal = 0;
    rates["plain outputs"].push_back(Rate(static_cast<double>(arguments.seeds), [&] {
      for (uint64_t i = 0; i < arguments.seeds; ++i) equal += random() == 1234567;
    }));
    for (const int64_t target : Targets()) {
      Choose(target);
      const std::string name = SeedScanTarget();
      // A set for which nothing was compiled of its own is served by a lesser one.
      for (const uint32_t clues : {1U, 8U}) {
        rates[name + " seeds, clues " + std::to_string(clues)].push_back(
            Rate(static_cast<double>(arguments.seeds), [&] { (void)VectorScan(clues, arguments.seeds); }));
      }
      Mt19937Scan scan(42);
      std::vector<uint64_t> positions;
      rates[name + " outputs"].push_back(Rate(static_cast<double>(16 * arguments.seeds),
                                              [&] { scan.Find(1234567, 16 * arguments.seeds, nullptr, &positions); }));
      found = VectorScan(1, plain_seeds);
      if (found != found_plain) {
        std::fprintf(stderr, "search_bench: %s finds %llu seeds, a plain loop %llu\n", name.c_str(),
                     static_cast<unsigned long long>(found), static_cast<unsigned long long>(found_plain));
        std::abort();  // a bug of ours
      }
      if (equal > arguments.seeds) std::abort();  // so that the loop is not left out
    }
    Choose(0);
  }
  nlohmann::json out;
  for (const auto& [name, values] : rates) out[name] = Spread(values);
  return out;
}

nlohmann::json MeasureWhole() {
  const auto begin = std::chrono::steady_clock::now();
  const auto begin_own = ThreadTime();
  const uint64_t found = VectorScan(1, uint64_t{1} << 32);
  const std::chrono::nanoseconds wall = std::chrono::steady_clock::now() - begin;
  return {{"core_seconds", Seconds(ThreadTime() - begin_own)},
          {"seconds", Seconds(wall)},
          {"survivors", found},
          {"survivors_expected", kAllSeeds / kSamples}};
}

// A loop on every core that counts how often it goes round: a training that never waits.
class BusyLoops {
 public:
  explicit BusyLoops(unsigned loops) : counts_(loops) {
    for (unsigned i = 0; i < loops; ++i) {
      threads_.emplace_back([this, i] {
        while (!ends_.load(std::memory_order_relaxed)) {
          uint32_t word = 1;
          for (int j = 0; j < 20'000; ++j) word = word * 1664525U + 1013904223U + (word >> 16);
          counts_[i].fetch_add(1 + (word == 0), std::memory_order_relaxed);
        }
      });
    }
  }
  ~BusyLoops() {
    ends_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  BusyLoops(const BusyLoops&) = delete;
  BusyLoops& operator=(const BusyLoops&) = delete;
  uint64_t Count() const {
    uint64_t sum = 0;
    for (const auto& count : counts_) sum += count.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<bool> ends_{false};
  std::vector<std::thread> threads_;
};

void Sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// How fast the loops go in `seconds`, and what a Searcher gets beside them.
struct Beside {
  double loops_a_second = 0;
  SearchProgress search;
};

Result<Beside> MeasureBeside(double seconds, bool searching) {
  const BusyLoops loops(UsableCores());
  std::unique_ptr<Searcher> searcher;
  uint64_t job = 0;
  if (searching) {
    AUGUR_TRY_ASSIGN(started, Searcher::Start({}));
    searcher = std::move(started);
    job = searcher->Submit(MakeSeedJob(
        Query(1), uint64_t{1} << 32, [](uint32_t, uint32_t) { return false; }, nullptr));
  }
  Beside beside;
  Sleep(0.3);
  const auto begin = std::chrono::steady_clock::now();
  const uint64_t count = loops.Count();
  Sleep(seconds);
  const std::chrono::nanoseconds wall = std::chrono::steady_clock::now() - begin;
  beside.loops_a_second = static_cast<double>(loops.Count() - count) / Seconds(wall);
  if (searcher != nullptr) beside.search = searcher->Progress(job).value_or(SearchProgress{});
  return beside;
}

Result<nlohmann::json> MeasureBusy(const Arguments& arguments) {
  std::vector<double> alone, left, cores, all_seconds;
  for (int round = 0; round < arguments.rounds; ++round) {
    AUGUR_TRY_ASSIGN(undisturbed, MeasureBeside(arguments.busy_seconds, false));
    alone.push_back(undisturbed.loops_a_second);
    AUGUR_TRY_ASSIGN(beside, MeasureBeside(arguments.busy_seconds, true));
    left.push_back(beside.loops_a_second / alone.back());
    cores.push_back(beside.search.core_seconds / beside.search.seconds);
    all_seconds.push_back(kAllSeeds / std::max(beside.search.units_a_second, 1.0));
  }
  return nlohmann::json{{"seconds", arguments.busy_seconds},     {"loops", UsableCores()},
                        {"loops alone", Spread(alone)},          {"speed of the loops", Spread(left)},
                        {"cores for the search", Spread(cores)}, {"seconds for 2^32", Spread(all_seconds)}};
}

std::string Processor() {
  std::ifstream info("/proc/cpuinfo");
  std::map<std::string, std::string> values;
  for (std::string line; std::getline(info, line) && !line.empty();) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size()) continue;
    values[line.substr(0, line.find_first_of("\t:"))] = line.substr(colon + 2);
  }
  return values["model name"] + ", family " + values["cpu family"] + ", model " + values["model"] + ", stepping " +
         values["stepping"];
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("What the search of seeds costs");
  app.add_option("--seeds", arguments.seeds, "seeds a measurement")->check(CLI::Range(8.0, kAllSeeds));
  app.add_option("--rounds", arguments.rounds, "rounds")->check(CLI::Range(1, 1000));
  app.add_flag("--whole", arguments.whole, "all 2^32 seeds once, too");
  app.add_option("--busy", arguments.busy_seconds, "seconds beside busy loops");
  CLI11_PARSE(app, argc, argv);

  std::array<double, 3> load{};
  (void)getloadavg(load.data(), 3);
  nlohmann::json out = {
      {"processor", Processor()}, {"cores", UsableCores()},     {"load", load[0]},
      {"seeds", arguments.seeds}, {"rounds", arguments.rounds}, {"by second and core", MeasureRates(arguments)}};
  if (arguments.busy_seconds > 0) {
    auto busy = MeasureBusy(arguments);
    if (!busy.ok()) {
      std::fprintf(stderr, "search_bench: %s\n", busy.status().text().c_str());
      return 2;
    }
    out["busy"] = std::move(busy).value();
  }
  if (arguments.whole) out["whole"] = MeasureWhole();
  std::printf("%s\n", out.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace augur

// Running out of memory is all that can throw here, and ends the program either way.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) { return augur::Main(argc, argv); }
