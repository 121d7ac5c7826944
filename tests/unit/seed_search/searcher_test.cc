// SPDX-License-Identifier: Apache-2.0
#include "seed_search/searcher.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/cores.h"
#include "base/mutex.h"
#include "unit/seed_search/done.h"

namespace augur {
namespace {

// A machine that runs tests has no idle core: ordinary workers, so that a test takes the time of its work.
constexpr Searcher::Options kBusy = {.threads = 3, .idle_class = false};

std::unique_ptr<Searcher> Start(const Searcher::Options& options = kBusy) {
  auto searcher = Searcher::Start(options);
  EXPECT_TRUE(searcher.ok()) << searcher.status().text();
  return std::move(searcher).value();
}

// Of a job that has not ended.
SearchProgress ProgressOf(const Searcher& searcher, uint64_t number) {
  const std::optional<SearchProgress> progress = searcher.Progress(number);
  EXPECT_TRUE(progress.has_value());
  return progress.value_or(SearchProgress{});
}

// Work that lasts until it is stopped.
void Endless(uint64_t, uint64_t, SearchTurn& turn) {
  while (turn.Continue()) std::this_thread::yield();
}

bool OnIdleThread() { return sched_getscheduler(0) == SCHED_IDLE; }

// Two on one core would take each other for somebody who wants it.
TEST(Searcher, EachWorkerHasACoreOfItsOwn) {
  std::mutex mu;
  std::set<std::vector<unsigned>> seen;
  Done done;
  auto searcher = Start({});
  const uint64_t number = searcher->Submit({.name = "cores",
                                            .units = UINT64_MAX,
                                            .range_units = 1,
                                            .work =
                                                [&](uint64_t, uint64_t, SearchTurn& turn) {
                                                  if (OnIdleThread()) {
                                                    const std::lock_guard lock(mu);
                                                    seen.insert(UsableCoreNumbers());
                                                  }
                                                  (void)turn.Continue();
                                                },
                                            .on_done = done.Callback()});
  std::set<std::vector<unsigned>> all;
  for (const unsigned core : UsableCoreNumbers()) all.insert({core});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  const auto all_seen = [&] {
    const std::lock_guard lock(mu);
    return seen.size() >= all.size();
  };
  while (!all_seen() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  searcher->Cancel(number);
  (void)done.Wait();
  searcher.reset();  // a worker may have gone on for a moment
  EXPECT_EQ(seen, all);
}

TEST(Searcher, SearchesEveryUnitOnce) {
  const auto searcher = Start();
  for (const uint64_t units : {1U, 63U, 64U, 65U, 100'000U}) {
    std::vector<std::atomic<int>> visits(units);
    Done done;
    const uint64_t number = searcher->Submit({.name = "count",
                                              .units = units,
                                              .range_units = 64,
                                              .work =
                                                  [&](uint64_t first, uint64_t count, SearchTurn&) {
                                                    for (uint64_t i = first; i < first + count; ++i) ++visits[i];
                                                  },
                                              .on_done = done.Callback()});
    const SearchOutcome outcome = done.Wait();
    EXPECT_EQ(outcome.end, SearchEnd::kExhausted);
    EXPECT_EQ(outcome.progress.fraction, 1);
    for (const auto& visit : visits) ASSERT_EQ(visit, 1);
    EXPECT_FALSE(searcher->Progress(number).has_value());
  }
}

// torch 2.15.0: torch.manual_seed(6148914); torch.randperm(50000)[:6], of which the first two tell.
TEST(Searcher, FindsTheSeedOfATorchPermutation) {
  const std::vector<uint32_t> expected = {20415, 27247, 38044, 15388, 11400, 11841};
  SeedQuery query{.samples = 50000, .any_of = {{0, expected[0]}, {0, 17}, {1, expected[0]}}};
  Done done;
  const auto accept = [expected](uint32_t seed, uint32_t offset) {
    std::mt19937 random(seed);
    random.discard(offset);
    for (uint32_t i = 0; i < expected.size(); ++i) {
      if (random() % (50000 - i) != expected[i] - i) return false;
    }
    return true;
  };
  const auto searcher = Start();
  searcher->Submit(MakeSeedJob(query, 1 << 23, accept, done.Callback()));
  const SearchOutcome outcome = done.Wait();
  ASSERT_EQ(outcome.end, SearchEnd::kFound);
  EXPECT_EQ(SeedHitOf(outcome.result), (SeedHit{6148914, 0}));
  EXPECT_GT(outcome.progress.core_seconds, 0);
}

TEST(Searcher, ASeedThatIsNotThereIsNotFound) {
  Done done;
  std::atomic<int> survivors{0};
  const auto accept = [&](uint32_t, uint32_t) {
    ++survivors;
    return false;
  };
  const auto searcher = Start();
  searcher->Submit(MakeSeedJob({.samples = 1000, .any_of = {{0, 1}}}, 1 << 20, accept, done.Callback()));
  EXPECT_EQ(done.Wait().end, SearchEnd::kExhausted);
  EXPECT_NEAR(survivors, (1 << 20) / 1000.0, 160);  // 5 standard deviations
}

TEST(Searcher, FoundEndsTheOtherThreadsToo) {
  const auto searcher = Start();
  Done done;
  searcher->Submit({.name = "found",
                    .units = 1000,
                    .work =
                        [](uint64_t first, uint64_t count, SearchTurn& turn) {
                          if (first == 2) return turn.Found(first + 40);
                          Endless(first, count, turn);
                        },
                    .on_done = done.Callback()});
  const SearchOutcome outcome = done.Wait();
  EXPECT_EQ(outcome.end, SearchEnd::kFound);
  EXPECT_EQ(outcome.result, 42U);
}

TEST(Searcher, OneJobAtATimeInTheirOrder) {
  std::atomic<int> running{-1};
  std::vector<Done> done(4);
  std::atomic<bool> go{false};
  const auto searcher = Start();
  for (int i = 0; i < 4; ++i) {
    searcher->Submit({.name = "order",
                      .units = 100,
                      .work =
                          [&, i](uint64_t, uint64_t, SearchTurn&) {
                            while (!go) std::this_thread::yield();
                            if (running.exchange(i) > i) ADD_FAILURE() << "job " << i << " after a later one";
                          },
                      .on_done = done[static_cast<size_t>(i)].Callback()});
  }
  go = true;
  for (Done& one : done) EXPECT_EQ(one.Wait().end, SearchEnd::kExhausted);
}

TEST(Searcher, CancelEndsWhatRunsAndWhatWaits) {
  Done running;
  Done waiting;
  Done last;
  std::promise<void> begun;
  std::atomic<bool> first_call{true};
  const auto searcher = Start();
  const uint64_t number = searcher->Submit({.name = "endless",
                                            .units = 1000,
                                            .work =
                                                [&](uint64_t first, uint64_t count, SearchTurn& turn) {
                                                  if (first_call.exchange(false)) begun.set_value();
                                                  Endless(first, count, turn);
                                                },
                                            .on_done = running.Callback()});
  const uint64_t waits =
      searcher->Submit({.name = "waits", .units = 1, .work = Endless, .on_done = waiting.Callback()});
  searcher->Submit(
      {.name = "last", .units = 1, .work = [](uint64_t, uint64_t, SearchTurn&) {}, .on_done = last.Callback()});
  begun.get_future().wait();
  EXPECT_LT(ProgressOf(*searcher, number).fraction, 1);
  EXPECT_EQ(ProgressOf(*searcher, waits).seconds, 0);
  searcher->Cancel(waits);
  EXPECT_EQ(waiting.Wait().end, SearchEnd::kCancelled);
  searcher->Cancel(number);
  EXPECT_EQ(running.Wait().end, SearchEnd::kCancelled);
  EXPECT_EQ(last.Wait().end, SearchEnd::kExhausted);
  searcher->Cancel(number);  // has ended
  searcher->Cancel(12345);   // never was
  EXPECT_FALSE(searcher->Progress(12345).has_value());
}

// Jobs of one run share its allowance.
TEST(Searcher, AJobEndsWhenTheAllowanceIsSpent) {
  const auto allowance = std::make_shared<SearchAllowance>(0.02);
  const auto searcher = Start();
  for (const bool first : {true, false}) {
    Done done;
    searcher->Submit(
        {.name = "endless", .units = 1000, .work = Endless, .on_done = done.Callback(), .allowance = allowance});
    const SearchOutcome outcome = done.Wait();
    EXPECT_EQ(outcome.end, SearchEnd::kSpent);
    EXPECT_TRUE(allowance->spent());
    if (first) {
      EXPECT_GE(outcome.progress.core_seconds, 0.02);
    }
  }
  allowance->Renew();
  EXPECT_FALSE(allowance->spent());
  Done done;
  searcher->Submit({.name = "short",
                    .units = 1,
                    .work = [](uint64_t, uint64_t, SearchTurn&) {},
                    .on_done = done.Callback(),
                    .allowance = allowance});
  EXPECT_EQ(done.Wait().end, SearchEnd::kExhausted);
}

TEST(Searcher, TheDestructorCancelsAllJobs) {
  std::vector<Done> done(3);
  auto searcher = Start();
  for (Done& one : done) {
    searcher->Submit({.name = "endless", .units = 1000, .work = Endless, .on_done = one.Callback()});
  }
  searcher.reset();
  for (Done& one : done) EXPECT_EQ(one.Wait().end, SearchEnd::kCancelled);
}

TEST(Searcher, ACallbackMayUseTheSearcher) {
  const auto searcher = Start();
  Done second;
  searcher->Submit({.name = "first",
                    .units = 1,
                    .work = [](uint64_t, uint64_t, SearchTurn&) {},
                    .on_done =
                        [&, callback = second.Callback()](const SearchOutcome&) {
                          const uint64_t number =
                              searcher->Submit({.name = "second", .units = 1, .work = Endless, .on_done = callback});
                          EXPECT_TRUE(searcher->Progress(number).has_value());
                          searcher->Cancel(number);
                        }});
  EXPECT_EQ(second.Wait().end, SearchEnd::kCancelled);
}

// An end is told at once, though a worker is still in a range of the job, and the next job runs meanwhile.
TEST(Searcher, NobodyWaitsForAWorkerThatStandsStill) {
  std::atomic<bool> stand_still{true};
  std::atomic<bool> standing{false};
  Done done;
  Done next;
  const auto searcher = Start({.threads = 2, .idle_class = false});
  searcher->Submit({.name = "stands",
                    .units = 2,
                    .work =
                        [&](uint64_t first, uint64_t, SearchTurn& turn) {
                          if (first == 0) {
                            standing = true;
                            standing.notify_all();
                            stand_still.wait(true);
                          } else {
                            standing.wait(false);
                            turn.Found(7);
                          }
                        },
                    .on_done = done.Callback()});
  EXPECT_EQ(done.Wait().result, 7U);
  searcher->Submit(
      {.name = "next", .units = 10, .work = [](uint64_t, uint64_t, SearchTurn&) {}, .on_done = next.Callback()});
  EXPECT_EQ(next.Wait().end, SearchEnd::kExhausted);
  EXPECT_TRUE(stand_still);
  stand_still = false;
  stand_still.notify_all();
}

// Every job ends once, whatever is done to it from several threads at a time. For the thread sanitizer above all.
TEST(Searcher, SurvivesUseFromManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kJobs = 50;
  std::atomic<int> ended{0};
  {
    const auto searcher = Start();
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        std::minstd_rand random(t + 1);
        for (int i = 0; i < kJobs; ++i) {
          const auto kind = random() % 3;
          const uint64_t number = searcher->Submit({.name = "any",
                                                    .units = 1 + random() % 50,
                                                    .range_units = 1 + random() % 4,
                                                    .work =
                                                        [kind](uint64_t first, uint64_t, SearchTurn& turn) {
                                                          if (kind == 0) (void)turn.Continue();
                                                          if (kind == 1 && first > 20) turn.Found(first);
                                                          if (kind == 2) Endless(0, 0, turn);
                                                        },
                                                    .on_done = [&](const SearchOutcome&) { ++ended; }});
          EXPECT_LE(searcher->Progress(number).value_or(SearchProgress{}).fraction, 1);
          if (kind == 2 || random() % 2 == 0) searcher->Cancel(number);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(ended, int64_t{kThreads} * kJobs);
}

}  // namespace
}  // namespace augur
