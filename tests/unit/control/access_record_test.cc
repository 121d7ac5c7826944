// SPDX-License-Identifier: Apache-2.0
#include "control/access_record.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace augur {
namespace {

std::vector<uint32_t> FilesOf(const AccessRecord::Page& page) {
  std::vector<uint32_t> files;
  files.reserve(page.accesses.size());
  for (const SeenAccess& access : page.accesses) files.push_back(access.file);
  return files;
}

TEST(AccessRecordTest, KeepsNothingBeforeSomebodyAsks) {
  AccessRecord record;
  record.Note(1, true);
  AccessRecord::Page page = record.Take(0);
  EXPECT_TRUE(page.accesses.empty());
  record.Note(2, true);
  record.Note(3, false);
  page = record.Take(page.next);
  EXPECT_EQ(FilesOf(page), (std::vector<uint32_t>{2, 3}));
  EXPECT_TRUE(page.accesses[0].read);
  EXPECT_FALSE(page.accesses[1].read);
  EXPECT_LE(page.accesses[0].time_us, page.accesses[1].time_us);
  EXPECT_FALSE(page.more);
  EXPECT_EQ(page.lost, 0U);
  EXPECT_TRUE(record.Take(page.next).accesses.empty());
}

TEST(AccessRecordTest, CountsWhatWasTooMuch) {
  AccessRecord record;
  uint64_t next = record.Take(UINT64_MAX).next;
  EXPECT_EQ(next, 0U);
  constexpr uint32_t kBeyond = 10;
  for (uint32_t file = 0; file < AccessRecord::kAccessesMax + kBeyond; ++file) record.Note(file, true);
  std::vector<uint32_t> files;
  uint64_t lost = 0;
  while (true) {
    const AccessRecord::Page page = record.Take(next);
    EXPECT_LE(page.accesses.size(), AccessRecord::kPageMax);
    const std::vector<uint32_t> some = FilesOf(page);
    files.insert(files.end(), some.begin(), some.end());
    lost += page.lost;
    next = page.next;
    if (!page.more) break;
  }
  EXPECT_EQ(lost, kBeyond);
  ASSERT_EQ(files.size(), AccessRecord::kAccessesMax);
  for (uint32_t i = 0; i < files.size(); ++i) ASSERT_EQ(files[i], i + kBeyond);
  // One who comes from a daemon before this one, whose numbers were higher.
  EXPECT_TRUE(record.Take(next + 1000).accesses.empty());
}

TEST(AccessRecordTest, ManyThreadsMayNote) {
  AccessRecord record;
  (void)record.Take(0);
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&record] {
      for (uint32_t file = 0; file < 1000; ++file) record.Note(file, true);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(record.Take(0).accesses.size(), 4000U);
}

// Neither stops the other, however their locks and their looks at the clock fall.
TEST(AccessRecordTest, WhoTakesWhileOthersNoteGetsAll) {
  for (int round = 0; round < 20; ++round) {
    AccessRecord record;
    uint64_t next = record.Take(0).next;
    std::atomic<bool> ended = false;
    std::thread reader([&] {
      for (uint32_t file = 0; file < AccessRecord::kAccessesMax; ++file) record.Note(file, true);
      ended = true;
    });
    std::vector<uint32_t> files;
    for (bool more = true; more;) {
      more = !ended;
      const AccessRecord::Page page = record.Take(next);
      EXPECT_EQ(page.lost, 0U);
      more = more || page.more;
      const std::vector<uint32_t> some = FilesOf(page);
      files.insert(files.end(), some.begin(), some.end());
      next = page.next;
    }
    reader.join();
    ASSERT_EQ(files.size(), AccessRecord::kAccessesMax);
    for (uint32_t i = 0; i < files.size(); ++i) ASSERT_EQ(files[i], i);
  }
}

TEST(AccessRecordTest, TextGoesThereAndBack) {
  const std::vector<SeenAccess> accesses = {{.time_us = 5, .file = 7, .read = true},
                                            {.time_us = UINT64_MAX, .file = UINT32_MAX, .read = false}};
  EXPECT_EQ(ParseAccesses(RenderAccesses(accesses)), accesses);
  EXPECT_TRUE(ParseAccesses("").empty());
  EXPECT_TRUE(ParseAccesses("{}").empty());
  EXPECT_EQ(ParseAccesses(R"([[1,2],[1,-2,0],["a",2,1],[1,4294967296,1],7,[1,2,1]])"),
            (std::vector<SeenAccess>{{.time_us = 1, .file = 2, .read = true}}));
}

}  // namespace
}  // namespace augur
