// SPDX-License-Identifier: Apache-2.0
#include "base/limited_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace augur {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
constexpr auto kWarn = spdlog::level::warn;
constexpr auto kError = spdlog::level::err;

// A log whose time passes only when the test says so.
class LimitedLogTest : public testing::Test {
 protected:
  void Pass(std::chrono::seconds time) { now_ += time; }
  std::vector<std::string> Taken() { return std::exchange(lines_, {}); }

  LimitedLog::Time now_;
  std::vector<std::string> lines_;
  LimitedLog log_{[this] { return now_; },
                  [this](LimitedLog::Level level, const std::string& line) {
                    lines_.push_back(std::string(spdlog::level::to_string_view(level).data()) + " " + line);
                  }};
};

TEST_F(LimitedLogTest, WritesOneLineOfAKeyInAPeriodAndCountsTheOthers) {
  for (int i = 0; i < 12'346; ++i) log_.Log(kError, "failed reads", "a.jpg", "a.jpg: checksum " + std::to_string(i));
  EXPECT_THAT(Taken(), ElementsAre("error a.jpg: checksum 0"));
  Pass(LimitedLog::kPeriod);
  log_.Tick();
  EXPECT_THAT(Taken(),
              ElementsAre("error failed reads: and 12,345 more in the last 60 s, the last one: a.jpg: checksum 12345"));
  EXPECT_EQ(log_.held_count(), 12'345u);
  log_.Tick();
  EXPECT_THAT(Taken(), IsEmpty());
}

TEST_F(LimitedLogTest, TellsWhatItCountedBeforeTheFirstLineOfTheNextPeriod) {
  log_.Log(kError, "failed reads", "a", "first");
  log_.Log(kError, "failed reads", "a", "second");
  Pass(LimitedLog::kPeriod + std::chrono::seconds(7));
  log_.Log(kError, "failed reads", "a", "third");
  EXPECT_THAT(Taken(),
              ElementsAre("error first", "error failed reads: and 1 more in the last 67 s, the last one: second",
                          "error third"));
}

TEST_F(LimitedLogTest, AFileThatFailsAgainAndAgainDoesNotHideTheNextOne) {
  for (int i = 0; i < 1000; ++i) log_.Log(kError, "failed reads", "a", "a fails");
  log_.Log(kError, "failed reads", "b", "b fails");
  EXPECT_THAT(Taken(), ElementsAre("error a fails", "error b fails"));
}

TEST_F(LimitedLogTest, ManyKeysOfOneSourceAreBoundedAndLeaveOtherSourcesAlone) {
  for (int i = 0; i < 100'000; ++i) log_.Log(kWarn, "views", std::to_string(i), "no such view: " + std::to_string(i));
  log_.Log(kError, "failed reads", "a", "a fails");
  const std::vector<std::string> lines = Taken();
  ASSERT_THAT(lines, SizeIs(LimitedLog::kLinesMax + 1));
  EXPECT_EQ(lines.back(), "error a fails");
  log_.Flush();
  EXPECT_THAT(Taken(),
              ElementsAre("warning views: and 99,980 more in the last 1 s, the last one: no such view: 99999"));
}

TEST_F(LimitedLogTest, ManySourcesAreOneSource) {
  for (int i = 0; i < 10'000; ++i) log_.Log(kWarn, "source " + std::to_string(i), std::to_string(i), "text");
  EXPECT_THAT(Taken(), SizeIs(LimitedLog::kSourcesMax + LimitedLog::kLinesMax));
  EXPECT_EQ(log_.held_count(), 10'000 - LimitedLog::kSourcesMax - LimitedLog::kLinesMax);
  Pass(LimitedLog::kPeriod);
  log_.Log(kWarn, "a new source", "key", "is written");
  const std::vector<std::string> lines = Taken();
  ASSERT_THAT(lines, SizeIs(2));  // the sum of the others, and the line
  EXPECT_EQ(lines[1], "warning is written");
}

TEST_F(LimitedLogTest, LongLinesAreCut) {
  log_.Log(kWarn, std::string(100'000, 's'), "a", std::string(100'000, 'x'));
  log_.Log(kWarn, std::string(100'000, 's'), "a", std::string(100'000, 'y'));
  log_.Flush();
  const std::vector<std::string> lines = Taken();
  ASSERT_THAT(lines, SizeIs(2));
  const std::string end = "... (100,000 bytes)";
  EXPECT_EQ(lines[0], "warning " + std::string(LimitedLog::kTextBytesMax, 'x') + end);
  EXPECT_EQ(lines[1], "warning " + std::string(LimitedLog::kSourceBytesMax, 's') +
                          ": and 1 more in the last 1 s, the last one: " + std::string(LimitedLog::kTextBytesMax, 'y') +
                          end);
}

TEST(LimitedLog, EachLineOfEachThreadIsWrittenOrCounted) {
  std::atomic<uint64_t> written = 0;
  LimitedLog log([] { return LimitedLog::Time(); },
                 [&](LimitedLog::Level, const std::string&) { written.fetch_add(1, std::memory_order_relaxed); });
  constexpr int kThreads = 4;
  constexpr int kLines = 10'000;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&log] {
      for (int i = 0; i < kLines; ++i) log.Log(kWarn, "source", std::to_string(i), "text");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(written, LimitedLog::kLinesMax);
  EXPECT_EQ(written + log.held_count(), uint64_t{kThreads} * kLines);
}

}  // namespace
}  // namespace augur
