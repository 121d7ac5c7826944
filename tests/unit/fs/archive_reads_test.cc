// SPDX-License-Identifier: Apache-2.0
#include "fs/archive_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr uint64_t kPage = ArchiveReads::kPageBytes;

// A file with samples of one length, none of which begins on a page.
class ArchiveReadsTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kFirst = 700;
  static constexpr uint64_t kEach = 50'000;

  uint64_t BeginOf(uint64_t sample) const { return kFirst + sample * each_; }
  // What the archive tells of a READ.
  std::vector<SampleBegin> BeginsIn(uint64_t offset, uint64_t bytes) const {
    std::vector<SampleBegin> begins;
    const uint64_t from = offset - std::min(offset, kPage);
    for (uint64_t sample = 0; BeginOf(sample) < offset + bytes; ++sample) {
      if (BeginOf(sample) < from) continue;
      SampleBegin begin{.at = BeginOf(sample), .image = {}};
      begin.image.number = sample;
      begins.push_back(begin);
    }
    return begins;
  }
  std::vector<uint64_t> Take(uint64_t offset, uint64_t bytes, NodeId node = 1, uint32_t reader = 1) {
    const std::vector<SampleBegin> begins = BeginsIn(offset, bytes);
    std::vector<uint64_t> samples;
    for (const Entry& image : reads_.Take({.node = node, .reader = reader, .offset = offset, .bytes = bytes}, begins)) {
      samples.push_back(image.number);
    }
    return samples;
  }
  // As the kernel asks for [begin, begin + bytes): whole pages, but the first `cached` ones.
  std::vector<uint64_t> TakePages(uint64_t begin, uint64_t bytes, uint64_t cached = 0) {
    const uint64_t from = begin / kPage * kPage + cached * kPage;
    const uint64_t to = (begin + bytes + kPage - 1) / kPage * kPage;
    return Take(from, to - from);
  }

  uint64_t each_ = kEach;
  ArchiveReads reads_;
};

TEST_F(ArchiveReadsTest, TheSampleWhereAReadBegins) {
  for (const uint64_t sample : {7, 3, 90, 0, 41, 40}) {
    EXPECT_THAT(TakePages(BeginOf(sample), kEach), ElementsAre(sample)) << "its pages have bytes of others, too";
  }
}

TEST_F(ArchiveReadsTest, AlsoWhereItsFirstPageCameWithAnother) {
  EXPECT_THAT(TakePages(BeginOf(7), kEach), ElementsAre(7));
  EXPECT_THAT(TakePages(BeginOf(90), kEach, 1), ElementsAre(90));
  EXPECT_THAT(Take(BeginOf(20) + 3 * kPage, kPage), IsEmpty()) << "a part of a sample";
}

TEST_F(ArchiveReadsTest, WhatTheKernelReadsAheadIsNotTold) {
  // A read of more than the kernel reads at one time: it goes on, and beyond its end.
  const uint64_t begin = BeginOf(30) / kPage * kPage;
  EXPECT_THAT(Take(begin, 32 * kPage), ElementsAre(30)) << "32 pages have three samples";
  EXPECT_THAT(Take(begin + 32 * kPage, 32 * kPage), IsEmpty());
  EXPECT_THAT(Take(begin + 64 * kPage, 32 * kPage), IsEmpty());
  EXPECT_THAT(TakePages(BeginOf(60), kEach), ElementsAre(60));
}

TEST_F(ArchiveReadsTest, HeaderAndImageOfASampleAreOneRead) {
  EXPECT_THAT(TakePages(BeginOf(7) - 512, 512 + 100), ElementsAre(7));
  EXPECT_THAT(TakePages(BeginOf(7), kEach, 1), IsEmpty());
  EXPECT_THAT(TakePages(BeginOf(8), kEach), ElementsAre(8));
}

TEST_F(ArchiveReadsTest, AReaderWhoGoesThroughTheFile) {
  constexpr uint64_t kRead = 1 << 20;
  std::vector<uint64_t> told;
  for (uint64_t offset = 0; offset < 40 * kRead; offset += kRead) {
    const std::vector<uint64_t> now = Take(offset, kRead);
    EXPECT_LE(now.size(), ArchiveReads::kToldMax);
    told.insert(told.end(), now.begin(), now.end());
  }
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_EQ(told.front(), 0U);
  EXPECT_GT(told[1], ArchiveReads::kSequentialBytes / kEach - 25) << "none of the first bytes, but the first one";
  EXPECT_EQ(told.size() - 1, told.back() - told[1] + 1) << "and then all";
}

TEST_F(ArchiveReadsTest, TwoThreadsTakeTheKernelsReadsInTheWrongOrder) {
  constexpr uint64_t kRead = 1 << 20;
  std::vector<uint64_t> told;
  for (uint64_t offset = 0; offset < 20 * kRead; offset += 2 * kRead) {
    for (const uint64_t one : {offset + kRead, offset}) {
      for (const uint64_t sample : Take(one, kRead)) told.push_back(sample);
    }
  }
  EXPECT_GT(told.size(), 100U) << "it is seen that one reads on";
}

TEST_F(ArchiveReadsTest, SmallSamplesAreNoFlood) {
  each_ = 600;
  EXPECT_THAT(TakePages(BeginOf(1000), 600), IsEmpty()) << "several begin in one page";
  constexpr uint64_t kRead = 1 << 20;
  for (uint64_t offset = 0; offset < 20 * kRead; offset += kRead) {
    EXPECT_LE(Take(offset, kRead).size(), ArchiveReads::kToldMax);
  }
}

TEST_F(ArchiveReadsTest, ReadersAndFilesAreApart) {
  const uint64_t begin = BeginOf(30) / kPage * kPage;
  EXPECT_THAT(Take(begin, 32 * kPage, 1, 1), ElementsAre(30));
  EXPECT_THAT(Take(begin + 32 * kPage, 32 * kPage, 1, 2), Not(ElementsAre(30)));
  EXPECT_THAT(Take(begin, 32 * kPage, 2, 1), ElementsAre(30));
  for (uint32_t reader = 3; reader < 3 + 2 * ArchiveReads::kStreamsMax; ++reader) {
    EXPECT_THAT(Take(begin, 32 * kPage, 1, reader), ElementsAre(30)) << "streams are forgotten, not refused";
  }
}

}  // namespace
}  // namespace augur
