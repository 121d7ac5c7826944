// SPDX-License-Identifier: Apache-2.0
// The index of a disk cache and its log entries: memory alone.
#include "cache/disk_cache_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "cache/disk_cache_layout.h"
#include "cache/disk_cache_log.h"
#include "cache/disk_cache_policy.h"

namespace augur {
namespace {

DiskCacheKey Key(uint64_t id, uint64_t size) { return {.hash = {.low = id, .high = ~id}, .size = size}; }

TEST(DiskCacheIndexTest, AgreesWithAMap) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  DiskCacheIndex index;
  struct Model {
    uint32_t segment;
    uint32_t page;
    std::vector<uint64_t> sums;
  };
  std::map<uint64_t, Model> model;
  const auto size_of = [](uint64_t id) { return id % 5 == 0 ? kDiskCacheBlockBytes * (1 + id % 7) + 1 : 1 + id; };
  for (int step = 0; step < 60'000; ++step) {
    const uint64_t id = random() % 3000;
    const DiskCacheKey key = Key(id, size_of(id));
    const auto known = model.find(id);
    switch (random() % 4) {
      case 0: {
        Model file{.segment = static_cast<uint32_t>(random() % 9), .page = static_cast<uint32_t>(random()), .sums = {}};
        for (uint64_t block = 0; block < DiskCacheBlocks(key.size); ++block) file.sums.push_back(random());
        ASSERT_EQ(index.Insert(key, file.segment, file.page, file.sums), known == model.end());
        model.insert({id, file});
        break;
      }
      case 1:
        if (known != model.end() && random() % 2 == 0) {
          ASSERT_FALSE(index.Erase(key, known->second.segment + 1, known->second.page));
          ASSERT_TRUE(index.Erase(key, known->second.segment, known->second.page));
          model.erase(known);
        } else if (known == model.end()) {
          ASSERT_FALSE(index.Erase(key, 1, 1));
        }
        break;
      case 2:
        if (random() % 3000 == 0) {
          const auto segment = static_cast<uint32_t>(random() % 9);
          ASSERT_EQ(index.EraseSegment(segment),
                    std::erase_if(model, [segment](const auto& item) { return item.second.segment == segment; }));
        }
        [[fallthrough]];
      default: {
        const auto where = index.Find(key);
        const auto now = model.find(id);
        ASSERT_EQ(where.has_value(), now != model.end());
        ASSERT_EQ(index.Contains(key), now != model.end());
        if (where) {
          ASSERT_EQ(where->segment, now->second.segment);
          ASSERT_EQ(where->first_page, now->second.page);
          ASSERT_EQ(where->sums, now->second.sums);
        }
      }
    }
    ASSERT_EQ(index.file_count(), model.size());
  }
}

// Promise: some 50 bytes a file.
TEST(DiskCacheIndexTest, TakesSome50BytesAFile) {
  DiskCacheIndex index;
  std::mt19937_64 random(1);
  for (const uint64_t files : {100'000U, 170'000U, 262'000U, 270'000U}) {
    const uint64_t sum = 1;
    while (index.file_count() < files) {
      for (int step = 0; step < 1000; ++step) index.Insert(Key(random(), 1000), 0, 0, {&sum, 1});
    }
    EXPECT_LE(index.memory_bytes() / index.file_count(), 52U) << files;
  }
}

// Files of any size: what they take stays within the bound, what was there is found, and room that is made is used.
TEST(DiskCacheIndexTest, KeepsToABound) {
  constexpr uint64_t kBound = 1 << 20;
  DiskCacheIndex index(kBound);
  const auto size_of = [](uint64_t id) { return id % 16 == 0 ? 5 * kDiskCacheBlockBytes : 1 + id; };
  std::vector<uint64_t> inside;
  for (uint64_t id = 1; id < 100'000; ++id) {
    const DiskCacheKey key = Key(id, size_of(id));
    const std::vector<uint64_t> sums(DiskCacheBlocks(key.size), id);
    const bool room = index.HasRoom(key);
    ASSERT_EQ(index.Insert(key, static_cast<uint32_t>(id % 2), 1, sums), room);
    if (room) inside.push_back(id);
    ASSERT_LE(index.memory_bytes(), kBound + sizeof(DiskCacheIndex));
  }
  EXPECT_EQ(index.file_count(), inside.size());
  EXPECT_EQ(index.left_out(), 99'999 - inside.size());
  EXPECT_GT(inside.size(), kBound / 2 / DiskCacheIndex::kBytesPerFile);
  for (const uint64_t id : inside) ASSERT_TRUE(index.Contains(Key(id, size_of(id))));
  const uint64_t freed = index.EraseSegment(0);
  uint64_t refilled = 0;
  for (uint64_t id = 100'000; id < 200'000; ++id) {
    const uint64_t sum = id;
    refilled += index.Insert(Key(id, 1000), 3, 1, {&sum, 1}) ? 1 : 0;
  }
  EXPECT_GE(refilled, freed);
  EXPECT_LE(index.memory_bytes(), kBound + sizeof(DiskCacheIndex));
}

struct Seen {
  DiskCacheKey key;
  uint32_t page;
  std::vector<uint64_t> sums;
  size_t position;
};

std::vector<Seen> Scan(uint64_t id, std::span<const DiskCacheLogSlot> slots, DiskCacheLogScan* scan) {
  std::vector<Seen> seen;
  *scan = ScanDiskCacheLog(id, slots, [&](const DiskCacheLogFile& file, size_t position) {
    seen.push_back({file.key, file.first_page, {file.sums.begin(), file.sums.end()}, position});
  });
  return seen;
}

TEST(DiskCacheLogTest, FilesOfEveryNumberOfBlocksComeBack) {
  std::vector<DiskCacheLogSlot> slots;
  for (uint64_t blocks = 1; blocks <= 40; ++blocks) {
    std::vector<uint64_t> sums(blocks);
    for (uint64_t block = 0; block < blocks; ++block) sums[block] = blocks * 1000 + block;
    const auto file = EncodeDiskCacheFile(
        7,
        {.key = Key(blocks, blocks * kDiskCacheBlockBytes), .first_page = static_cast<uint32_t>(blocks), .sums = sums});
    EXPECT_EQ(file.size(), DiskCacheSlots(blocks));
    slots.insert(slots.end(), file.begin(), file.end());
  }
  DiskCacheLogScan scan;
  const std::vector<Seen> seen = Scan(7, slots, &scan);
  ASSERT_EQ(seen.size(), 40U);
  for (uint64_t blocks = 1; blocks <= 40; ++blocks) {
    const Seen& file = seen[blocks - 1];
    EXPECT_EQ(file.key, Key(blocks, blocks * kDiskCacheBlockBytes));
    EXPECT_EQ(file.page, blocks);
    ASSERT_EQ(file.sums.size(), blocks);
    EXPECT_EQ(file.sums.back(), blocks * 1000 + blocks - 1);
  }
  EXPECT_EQ(scan.bad, 0U);
  EXPECT_EQ(scan.known_end, slots.size());
  EXPECT_EQ(scan.used_end, slots.size());
  EXPECT_TRUE(Scan(8, slots, &scan).empty()) << "entries of another segment";
  EXPECT_EQ(scan.bad, slots.size());
  EXPECT_EQ(scan.bad_tail, slots.size());
}

// A file whose last entries are not there yet is looked at again.
TEST(DiskCacheLogTest, WhatIsBeingWrittenIsReadAgain) {
  const std::vector<uint64_t> sums(20, 5);
  const auto one = EncodeDiskCacheFile(7, {.key = Key(1, 10), .first_page = 1, .sums = {sums.data(), 1}});
  const auto two = EncodeDiskCacheFile(7, {.key = Key(2, 20 * kDiskCacheBlockBytes), .first_page = 2, .sums = sums});
  std::vector<DiskCacheLogSlot> slots(one);
  slots.insert(slots.end(), two.begin(), two.end());
  for (size_t there = 1; there < slots.size(); ++there) {
    std::vector<DiskCacheLogSlot> part(slots.begin(), slots.begin() + static_cast<ptrdiff_t>(there));
    part.resize(64);
    DiskCacheLogScan scan;
    EXPECT_EQ(Scan(7, part, &scan).size(), 1U);
    EXPECT_EQ(scan.used_end, there);
    EXPECT_EQ(scan.known_end, 1U);
    EXPECT_EQ(scan.bad, there > 1 ? 1U : 0U);
  }
}

TEST(DiskCachePolicyTest, OldRuns) {
  constexpr int64_t kHour = int64_t{3600} * 1'000'000'000;
  const DiskCacheRun young{.opened_ns = 1000 * kHour, .now_ns = 1001 * kHour};
  EXPECT_TRUE(IsOfOldDiskCacheRuns(young, 1000 * kHour - 1));
  EXPECT_FALSE(IsOfOldDiskCacheRuns(young, 1000 * kHour)) << "used since it was opened, by whomever";
  EXPECT_FALSE(IsOfOldDiskCacheRuns(young, 1002 * kHour)) << "clocks differ a little";
  EXPECT_TRUE(IsOfOldDiskCacheRuns(young, 2000 * kHour)) << "a clock was wrong";
  const DiskCacheRun old{.opened_ns = 0, .now_ns = 1001 * kHour};
  EXPECT_TRUE(IsOfOldDiskCacheRuns(old, 976 * kHour)) << "a daemon that runs for weeks";
  EXPECT_FALSE(IsOfOldDiskCacheRuns(old, 978 * kHour));
  EXPECT_FALSE(DiskCacheRunKnowsItsOwn({.lookups = 319, .segments = 10, .lookups_per_segment = 32}));
  EXPECT_TRUE(DiskCacheRunKnowsItsOwn({.lookups = 320, .segments = 10, .lookups_per_segment = 32}));
}

}  // namespace
}  // namespace augur
