// SPDX-License-Identifier: Apache-2.0
#include "control/status_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace augur {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using State = OrderReport::State;

constexpr int64_t kNow = 1'700'000'000;

TEST(FormatDuration, IsForPeople) {
  EXPECT_EQ(FormatDuration(0), "0 us");
  EXPECT_EQ(FormatDuration(999), "999 us");
  EXPECT_EQ(FormatDuration(1500), "1.5 ms");
  EXPECT_EQ(FormatDuration(12'300'000), "12.3 s");
  EXPECT_EQ(FormatDuration(268'435'456), "4 min 28 s");
  EXPECT_EQ(FormatDuration(uint64_t{11'100} * 1'000'000), "3 h 5 min");
}

// The first line alone answers the question: known or not, of which job, and since when.
TEST(RenderStatus, TheFirstLineIsAboutTheOrder) {
  Statistics statistics;
  statistics.Add(Stat::kPushes, 12'345);
  statistics.Add(Stat::kPushedBytes, 3 << 20);
  StatusScreen screen;
  screen.now = kNow;
  screen.orders = {{.job = 3, .state = State::kKnown, .since = kNow - 268, .text = "torch RandomSampler, seed 7"},
                   {.job = 4, .state = State::kSought, .since = 0, .text = "not understood after 12 reads"},
                   {.job = 0, .state = State::kEnded, .since = 0, .text = "Keras, seed 1"}};
  const std::string text = RenderStatus(screen, statistics.Snapshot());
  const std::string first = text.substr(0, text.find('\n'));
  EXPECT_THAT(first, StartsWith("order known of job 3 since "));
  EXPECT_THAT(first, EndsWith("(4 min 28 s): torch RandomSampler, seed 7"));
  EXPECT_THAT(text, HasSubstr("\nahead      12,345 files (3.0 MiB) were in the page cache before their use\n"));
  EXPECT_THAT(text, HasSubstr("\nalso       not known of job 4: not understood after 12 reads\n"));
  EXPECT_THAT(text, HasSubstr("\nended      job that has ended: Keras, seed 1\n"));
}

TEST(RenderStatus, WhatIsNotKnownIsSaidToo) {
  const StatisticsSnapshot none = Statistics().Snapshot();
  StatusScreen screen;
  EXPECT_THAT(RenderStatus(screen, none), StartsWith("order not known: no job reads now\n"));
  screen.orders = {{.job = 1, .state = State::kSought, .since = 0, .text = "too few reads so far"}};
  EXPECT_THAT(RenderStatus(screen, none), StartsWith("order not known of job 1: too few reads so far\n"));
  screen.orders = {{.job = 0, .state = State::kNotSought, .since = 0, .text = "all files come from memory"}};
  EXPECT_THAT(RenderStatus(screen, none), StartsWith("order not looked for: all files come from memory\n"));
  screen.facts = {{"policy", "window"}};
  EXPECT_THAT(RenderStatus(screen, none), StartsWith("order known: files are read in path order, or as given"));
  // A mount with little memory works out no order, but may be given one.
  screen.predicts = false;
  EXPECT_THAT(RenderStatus(screen, none), StartsWith("order known: files are read in path order, or as given"));
  screen.facts = {{"policy", "idle"}};
  EXPECT_THAT(RenderStatus(screen, none), StartsWith("order not worked out: "));
}

TEST(RenderStatus, EachNameStandsApartFromItsText) {
  Statistics statistics;
  statistics.Add(Stat::kImagesDecoded, 1);
  StatusScreen screen;
  screen.facts = {{"mountpoint", "/m"}, {"store", "/s"},           {"generation", "1"},
                  {"log", "/l"},        {"transport", "uring: y"}, {"hint", "x"}};
  std::istringstream lines(RenderStatus(screen, statistics.Snapshot()));
  std::string line;
  std::getline(lines, line);  // of the order
  size_t names = 0;
  while (std::getline(lines, line) && !line.starts_with("Why ")) {
    if (line.empty()) continue;
    ++names;
    EXPECT_THAT(line, ::testing::MatchesRegex("[a-z]+  +[^ ].*")) << line;
  }
  EXPECT_GE(names, 8U);
}

TEST(RenderStatus, TellsWhatASharedFileTakes) {
  Statistics statistics;
  statistics.Set(Gauge::kRetainedCacheBytes, 1 << 20);
  statistics.Set(Gauge::kRetainedCacheTakenBytes, 3 << 20);
  StatusScreen screen;
  EXPECT_THAT(RenderStatus(screen, statistics.Snapshot()), Not(HasSubstr("its file")));
  screen.facts = {{"shared_file", "/dev/shm/augurfs-7-ab"}};
  EXPECT_THAT(RenderStatus(screen, statistics.Snapshot()),
              HasSubstr("more in the page cache; its file /dev/shm/augurfs-7-ab takes 3.0 MiB\n"));
}

// What an ordinary run has: the order, eight lines and the way on.
TEST(RenderStatus, IsADozenLinesWhereNothingIsSpecial) {
  StatusScreen screen;
  screen.facts = {
      {"mountpoint", "/m"}, {"store", "/s"}, {"generation", "1"}, {"log", "/l"}, {"transport", "dev: /dev/fuse"}};
  const std::string text = RenderStatus(screen, Statistics().Snapshot());
  EXPECT_LE(std::ranges::count(text, '\n'), 12) << text;
  EXPECT_THAT(text, HasSubstr("\nahead      no file so far\n"));
  EXPECT_THAT(text, HasSubstr("\nwaits      no reader has waited so far\n"));
  EXPECT_THAT(text, HasSubstr("\nerrors     none\n"));
  EXPECT_THAT(text, Not(HasSubstr("transport")));
  screen.prefetches = false;
  EXPECT_THAT(RenderStatus(screen, Statistics().Snapshot()), Not(HasSubstr("\nahead")));
}

TEST(RenderStatus, TellsWhatReadersWaitedForAndWhatWentWrong) {
  Statistics statistics;
  statistics.Add(Stat::kMisses, 3);
  statistics.Add(Stat::kRetainedCacheHits, 1);
  statistics.Record(Histogram::kReadWaitUs, 3'000);
  statistics.Record(Histogram::kReadWaitUs, 1'000'000);
  statistics.Add(Stat::kReadFailures, 1);
  statistics.Add(Stat::kDecodeErrors, 2);
  statistics.Set(Gauge::kDiskBytesPerSecond, 200 << 20);
  statistics.Set(Gauge::kDiskReadCostUs, 500);
  const std::string text = RenderStatus({}, statistics.Snapshot());
  EXPECT_THAT(text, HasSubstr(": 25 % from memory, 75 % from the disk\n"));
  EXPECT_THAT(text, HasSubstr("waits      1.0 s in all, in 2 reads: half of them up to 4.1 ms, 99 % up to 1.0 s\n"));
  EXPECT_THAT(text, HasSubstr("; it can do 200.0 MiB/s and 2,000 reads/s\n"));
  EXPECT_THAT(text, HasSubstr("errors     1 read failed, 2 images could not be decoded: the log has their names\n"));
}

TEST(RenderStatus, IsOneScreenWhateverThereIs) {
  Statistics statistics;
  for (const StatDefinition& row : kStatDefinitions) statistics.Add(row.id, 337'692);
  StatusScreen screen;
  screen.now = kNow;
  screen.facts = {{"mountpoint", "/mnt/a\x1b[31m"},
                  {"store", "/data/x"},
                  {"generation", "3"},
                  {"log", "system log"},
                  {"transport", "uring: y"}};
  for (uint64_t job = 1; job <= 50; ++job) {
    screen.orders.push_back({.job = job, .state = State::kKnown, .since = kNow, .text = "a sampler"});
  }
  const std::string text = RenderStatus(screen, statistics.Snapshot());
  EXPECT_LE(std::ranges::count(text, '\n'), 24);
  EXPECT_THAT(text, HasSubstr("also       43 jobs more: --all lists them\n"));
  EXPECT_THAT(text, HasSubstr("mount      /mnt/a\\x1B[31m shows /data/x, generation 3\n"));
  EXPECT_THAT(text, HasSubstr("log        system log\n"));
  EXPECT_THAT(text, HasSubstr("transport  uring: y\n"));
  EXPECT_THAT(text, HasSubstr("reads      337,692 reads (329.8 KiB) that the page cache could not serve"));
  EXPECT_THAT(text, Not(HasSubstr("337692")));
}

}  // namespace
}  // namespace augur
