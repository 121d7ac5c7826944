// SPDX-License-Identifier: Apache-2.0
#include "fs/archive_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/page.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// A file with samples of one length, none of which begins on a page.
class ArchiveReadsTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kFirst = 700;
  static constexpr uint64_t kEach = 50'000;

  uint64_t BeginOf(uint64_t sample) const { return kFirst + sample * each_; }
  // What the archive tells of a READ.
  std::vector<TouchedSample> TouchedBy(uint64_t offset, uint64_t bytes) const {
    std::vector<TouchedSample> touched;
    for (uint64_t sample = 0; BeginOf(sample) < offset + bytes; ++sample) {
      if (BeginOf(sample) + image_ <= offset) continue;
      touched.push_back({.begin = BeginOf(sample), .end = BeginOf(sample) + image_, .image = {}});
      touched.back().image.number = sample;
    }
    return touched;
  }
  static std::vector<uint64_t> NumbersOf(const std::vector<Entry>& images) {
    std::vector<uint64_t> numbers;
    for (const Entry& image : images) numbers.push_back(image.number);
    return numbers;
  }
  std::vector<uint64_t> Take(uint64_t offset, uint64_t bytes, NodeId node = 1, uint32_t reader = 1) {
    const ArchiveReads::Samples samples =
        reads_.Take({.node = node, .reader = reader, .offset = offset, .bytes = bytes}, TouchedBy(offset, bytes));
    brought_ = NumbersOf(samples.brought);
    return NumbersOf(samples.asked);
  }
  // As the kernel asks for [begin, begin + bytes): whole pages, but the first `cached` ones.
  std::vector<uint64_t> TakePages(uint64_t begin, uint64_t bytes, uint64_t cached = 0) {
    const uint64_t from = begin / kPageBytes * kPageBytes + cached * kPageBytes;
    const uint64_t to = (begin + bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    return Take(from, to - from);
  }

  uint64_t each_ = kEach;
  uint64_t image_ = kEach - 1536;  // of it, the rest is the frame
  std::vector<uint64_t> brought_;  // by the last READ
  ArchiveReads reads_;
};

TEST_F(ArchiveReadsTest, TheSampleWhoseBytesAReadHas) {
  for (const uint64_t sample : {70, 30, 900, 0, 410, 380}) {
    EXPECT_THAT(TakePages(BeginOf(sample), image_), ElementsAre(sample)) << "its pages have bytes of others, too";
    EXPECT_THAT(brought_, ElementsAre(sample));
  }
}

TEST_F(ArchiveReadsTest, AlsoWhereItsFirstPagesCameWithAnother) {
  EXPECT_THAT(TakePages(BeginOf(70), image_, 1), ElementsAre(70));
  EXPECT_THAT(brought_, ElementsAre(70));
  EXPECT_THAT(TakePages(BeginOf(900), image_, 5), ElementsAre(900));
  EXPECT_THAT(brought_, ElementsAre(900));
  EXPECT_THAT(Take(BeginOf(200) + 3 * kPageBytes, kPageBytes), IsEmpty()) << "a part of a sample";
  EXPECT_THAT(brought_, IsEmpty());
}

TEST_F(ArchiveReadsTest, WhatTheKernelReadsAheadIsNotTold) {
  const uint64_t begin = BeginOf(30) / kPageBytes * kPageBytes;
  EXPECT_THAT(Take(begin, 32 * kPageBytes), IsEmpty()) << "nobody asks for three samples at once";
  EXPECT_THAT(brought_, ElementsAre(30, 31));
  EXPECT_THAT(Take(begin + 32 * kPageBytes, 32 * kPageBytes), IsEmpty());
  EXPECT_THAT(brought_, ElementsAre(32, 33, 34));
  EXPECT_THAT(TakePages(BeginOf(600), image_), ElementsAre(600));
}

TEST_F(ArchiveReadsTest, AReadForEachGapBetweenPagesThatAreThere) {
  EXPECT_THAT(TakePages(BeginOf(300), image_), ElementsAre(300));
  for (const uint64_t sample : {302, 305, 311}) {
    EXPECT_THAT(TakePages(BeginOf(sample), image_, 1), IsEmpty()) << sample;
    EXPECT_THAT(brought_, ElementsAre(sample));
  }
  EXPECT_THAT(TakePages(BeginOf(200), image_), ElementsAre(200));
}

TEST_F(ArchiveReadsTest, HeaderAndImageOfASampleAreOneRead) {
  EXPECT_THAT(TakePages(BeginOf(70) - 512, 512 + 100), ElementsAre(70));
  EXPECT_THAT(TakePages(BeginOf(70), image_, 1), IsEmpty());
  EXPECT_THAT(brought_, ElementsAre(70));
  EXPECT_THAT(TakePages(BeginOf(180), image_), ElementsAre(180));
}

TEST_F(ArchiveReadsTest, AReaderWhoGoesThroughTheFile) {
  constexpr uint64_t kRead = 1 << 20;
  std::vector<uint64_t> told;
  for (uint64_t offset = 0; offset < 40 * kRead; offset += kRead) {
    const std::vector<uint64_t> now = Take(offset, kRead);
    EXPECT_LE(now.size(), ArchiveReads::kAskedMax);
    told.insert(told.end(), now.begin(), now.end());
  }
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_GT(told.front(), ArchiveReads::kSequentialBytes / kEach - 25) << "none of the first bytes";
  EXPECT_EQ(told.size(), told.back() - told.front() + 1) << "and then all";
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
  each_ = image_ = 600;
  EXPECT_THAT(TakePages(BeginOf(1000), 600), IsEmpty()) << "several begin in one page";
  constexpr uint64_t kRead = 1 << 20;
  for (uint64_t offset = 0; offset < 20 * kRead; offset += kRead) {
    EXPECT_LE(Take(offset, kRead).size(), ArchiveReads::kAskedMax);
  }
}

TEST_F(ArchiveReadsTest, ReadersAndFilesAreApart) {
  const uint64_t begin = BeginOf(30) / kPageBytes * kPageBytes;
  EXPECT_THAT(Take(begin, 12 * kPageBytes, 1, 1), ElementsAre(30));
  EXPECT_THAT(Take(begin + 12 * kPageBytes, 13 * kPageBytes, 1, 2), ElementsAre(31));
  EXPECT_THAT(Take(begin, 12 * kPageBytes, 2, 1), ElementsAre(30));
  for (uint32_t reader = 3; reader < 3 + 2 * ArchiveReads::kStreamsMax; ++reader) {
    EXPECT_THAT(Take(begin, 12 * kPageBytes, 1, reader), ElementsAre(30)) << "streams are forgotten, not refused";
  }
}

}  // namespace
}  // namespace augur
