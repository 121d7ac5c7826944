// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "diagnosis/svg_chart.h"
#include "unit/diagnosis/made_run.h"

namespace augur {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Ten seconds with two epochs of 20 files.
RunRecording Made(const std::string& progress = "opens") {
  RunRecording recording;
  const RunWindow window = MadeRun()
                               .Fact("mountpoint", "/mnt/<a>&\"b\"")
                               .Fact("store", "/data/x")
                               .Fact("generation", "3")
                               .Fact("progress", progress)
                               .Counted(Stat::kReads, 50)
                               .Counted(Stat::kMisses, 30)
                               .Counted(Stat::kStalls, 2)
                               .Counted(Stat::kOrdersFound, 1)
                               .Took(Histogram::kReadWaitUs, 50, 16'000)
                               .Is(Gauge::kMemoryBytesMax, 300 << 20)
                               .Window();
  recording.samples = {window.before(), window.after()};
  const uint64_t begin = window.before().time_us;
  const uint64_t step = (window.after().time_us - begin) / 42;
  for (uint32_t i = 0; i < 40; ++i) {
    recording.accesses.push_back({.time_us = begin + step * (i + 1), .file = i * 7 % 20, .read = i < 20});
  }
  return recording;
}

TEST(RunReportTest, HasTheNumbersAndAPictureOfEachKindForEachEpoch) {
  const std::string page = RenderRunReport(Made(), "2026-11-26 13:02:11");
  EXPECT_THAT(page, HasSubstr("<td data-name=\"reads\" data-value=\"50\">50</td>"));
  EXPECT_THAT(page, HasSubstr("data-name=\"misses\" data-value=\"30\""));
  EXPECT_THAT(page, HasSubstr("data-name=\"stalls\" data-value=\"2\""));
  EXPECT_THAT(page, HasSubstr("data-name=\"read_wait_us\" data-value=\"800000\""));
  EXPECT_EQ(CountOf(page, "<article>"), 2U);
  EXPECT_EQ(CountOf(page, "data-name=\"epoch_files\" data-value=\"20\""), 2U);
  EXPECT_EQ(CountOf(page, "<svg viewBox=\"0 0 340.0 150.0\""), 12U);
  EXPECT_THAT(page, HasSubstr(">order found</text>"));
}

TEST(RunReportTest, IsWholeInItselfAndTakesNoNameForATag) {
  const std::string page = RenderRunReport(Made(), "now");
  EXPECT_THAT(page, HasSubstr("<h1>A run on /mnt/&lt;a&gt;&amp;&quot;b&quot;</h1>"));
  for (const char* part : {"http", "<script", "src=", "@import", "<link", "nan", "inf\""}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
}

TEST(RunReportTest, WithoutAccessesItHasOneEpoch) {
  RunRecording recording = Made();
  recording.accesses.clear();
  const std::string page = RenderRunReport(recording, "now");
  EXPECT_EQ(CountOf(page, "<article>"), 1U);
  EXPECT_THAT(page, HasSubstr("data-name=\"reads\" data-value=\"50\""));
  EXPECT_THAT(page, HasSubstr("0 accesses seen"));
}

// What the page cache served may lie anywhere between the READs.
TEST(RunReportTest, TellsNoEpochsApartWhereOpensAreNotSeen) {
  const std::string page = RenderRunReport(Made("sentinels"), "now");
  EXPECT_EQ(CountOf(page, "<article>"), 1U);
  EXPECT_THAT(page, HasSubstr("<h3>The whole time</h3>"));
  EXPECT_THAT(page, HasSubstr("data-name=\"epoch_files\" data-value=\"20\""));
  EXPECT_THAT(page, HasSubstr("The daemon saw no opens here"));
  EXPECT_THAT(page, HasSubstr("Where an epoch ends is not known"));
}

// Where all files come from memory before an order is found, the daemon follows no reader, but sees opens.
TEST(RunReportTest, TellsEpochsApartByOpensAlsoWhereNoOrderIsFollowed) {
  RunRecording recording = Made("none");
  EXPECT_EQ(CountOf(RenderRunReport(recording, "now"), "<article>"), 2U);
  // Opens of a quarter of the files were not seen, and then of more.
  for (size_t i = 0; i < 5; ++i) recording.accesses[20 + i].read = true;
  EXPECT_EQ(CountOf(RenderRunReport(recording, "now"), "<article>"), 2U);
  recording.accesses.back().read = true;
  EXPECT_THAT(RenderRunReport(recording, "now"), HasSubstr("The daemon saw no opens here"));
}

TEST(SvgChartTest, CutsOffWhatIsBeyondTheAxes) {
  SvgChart chart("a<b", 10, 100, "100");
  chart.AddLine({{-5, -5}, {20, 500}}, SvgChart::Stroke::kDashed);
  chart.AddBar(0, 5, 0, 0, SvgChart::Fill::kFull);
  const std::string text = chart.Render();
  EXPECT_THAT(text, HasSubstr("points=\"4.0,132.0 336.0,36.0\" stroke-dasharray"));
  EXPECT_THAT(text, HasSubstr("<title>a&lt;b</title>"));
  EXPECT_THAT(text, Not(HasSubstr("class=\"bar\"")));
}

}  // namespace
}  // namespace augur
