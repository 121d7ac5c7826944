// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/top_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "unit/diagnosis/made_run.h"

namespace augur {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using State = OrderReport::State;

MadeRun Busy() {
  return MadeRun()
      .Fact("mountpoint", "/mnt/a\x1b[31m")
      .Fact("store", "/data/x")
      .Fact("generation", "3")
      .Job(State::kKnown, 1000, 16'250, "torch RandomSampler")
      .Workers(4, 0.8, 0.5)
      .Counted(Stat::kMisses, 50)
      .Counted(Stat::kDiskReads, 1500)
      .Counted(Stat::kDiskBytes, 100 << 20)
      .Counted(Stat::kDiskBusyUs, 5'000'000)
      .Took(Histogram::kDiskReadUs, 1000, 10'000)
      .Took(Histogram::kReadWaitUs, 50, 16'000)
      .Is(Gauge::kDiskReadCostUs, 500)
      .Is(Gauge::kDiskBytesPerSecond, 200 << 20)
      .Is(Gauge::kOrderPosition, 300)
      .Is(Gauge::kOrderFiles, 1200)
      .Is(Gauge::kOrdersQueued, 2)
      .Is(Gauge::kMemoryBytes, 100 << 20)
      .Is(Gauge::kPushWindowBytes, 50 << 20)
      .Is(Gauge::kMemoryBytesMax, 300 << 20);
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

TEST(TopLines, TellWhoReadsWhatFromWhere) {
  const std::string text = Joined(TopLines(Busy().Window(), "13:02:11", 200, 50));
  EXPECT_THAT(text, ::testing::StartsWith("13:02:11  /mnt/a\\x1B[31m shows /data/x, generation 3\n"));
  EXPECT_THAT(text, HasSubstr("    1      1,525      16,250  torch RandomSampler\n"));
  EXPECT_THAT(text, HasSubstr("readers     4 processes, 3.2 processors; wait for the mount 2 % of their time"));
  EXPECT_THAT(text, HasSubstr("order       [#####...............] 300 of 1,200 files, 2 orders ahead\n"));
  EXPECT_THAT(text, HasSubstr("misses      5.0 misses/s; 5.0 waits/s of 16.0 ms, 0.0 stalls/s\n"));
  EXPECT_THAT(
      text,
      HasSubstr("disk        [##########..........] busy 50 %; 150 reads/s of 2,000, 10.0 MiB/s of 200.0 MiB/s\n"));
  EXPECT_THAT(text, HasSubstr("2.0 reads in flight, each 10.0 ms"));
  EXPECT_THAT(
      text, HasSubstr("memory=     [##########..........] 150.0 MiB of 300.0 MiB\n            page cache 50.0 MiB\n"));
  EXPECT_THAT(text, HasSubstr("errors      none\n"));
  EXPECT_THAT(text, Not(HasSubstr("decode")));
  const std::string views = Joined(TopLines(
      Busy().Counted(Stat::kImagesDecoded, 500).Took(Histogram::kDecodeTimeUs, 500, 8000).Window(), "", 200, 50));
  EXPECT_THAT(views, HasSubstr("decode      50 images/s, each 8.0 ms, by 0.4 processors"));
}

TEST(TopLines, FitTheWindow) {
  MadeRun run = Busy();
  run.Job(State::kSought, 0, 5, "\xC3\xA4\xC3\xB6\xC3\xBC is no known list");
  const std::vector<std::string> lines = TopLines(run.Window(), "13:02:11", 41, 6);
  EXPECT_EQ(lines.size(), 6u);
  // Columns, not bytes; and no letter is cut in two.
  EXPECT_THAT(lines, Contains("    2        0.5           5  not known: "));
  EXPECT_THAT(Joined(TopLines(run.Window(), "", 44, 6)), HasSubstr("not known: \xC3\xA4\xC3\xB6\xC3\xBC"));
  EXPECT_THAT(TopLines(run.Window(), "", 1, 1), ::testing::SizeIs(1));
}

TEST(TopLines, SayWhenNobodyCanBeTold) {
  const MadeRun run = MadeRun().Fact("prefetch", "off").Counted(Stat::kReads, 70);
  EXPECT_THAT(Joined(TopLines(run.Window(), "", 200, 50)), HasSubstr("    -        7.0           -  not worked out"));
}

TEST(TopJson, HasTheSameNumbers) {
  const nlohmann::json json = nlohmann::json::parse(TopJson(Busy().Window()));
  EXPECT_EQ(json["jobs"][0]["files_per_second"], 1525.0);
  EXPECT_EQ(json["jobs"][0]["known"], true);
  EXPECT_EQ(json["disk"]["reads_per_second"], 150.0);
  EXPECT_EQ(json["disk"]["busy_share"], 0.5);
  EXPECT_EQ(json["order"]["files"], 1200);
  EXPECT_EQ(json["memory"]["push_window_bytes"], 50 << 20);
  EXPECT_EQ(json["errors"], 0);
}

}  // namespace
}  // namespace augur
