// SPDX-License-Identifier: Apache-2.0
// Segments that were damaged, cut, removed or made by somebody else: right bytes or none, and never a signal.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "base/units.h"
#include "cache/disk_cache_log.h"
#include "unit/cache/disk_cache_support.h"

namespace augur {
namespace {

using Inserted = DiskCache::Inserted;

constexpr uint64_t kFiles = 40;  // 0, 16 and 32 have several blocks

class DiskCacheDamageTest : public testing::Test {
 protected:
  void SetUp() override {
    options_ = folder_.options();
    options_.segment_bytes = 24 * kMiB;
    const auto cache = DiskCacheTestFolder::Open(options_);
    for (uint64_t id = 0; id < kFiles; ++id) ASSERT_EQ(InsertIntoDiskCache(*cache, id), Inserted::kYes);
    for (uint64_t id = 0; id < kFiles; ++id) {
      places_.push_back(PlaceOf(*cache, id));
      places_.back().file = nullptr;
    }
    ASSERT_EQ(folder_.files().size(), 1U);
    path_ = folder_.files()[0];
  }

  void ReadIn() {
    std::ifstream in(path_, std::ios::binary);
    good_.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::string Bytes(uint64_t offset, size_t count) const { return good_.substr(offset, count); }
  void Write(uint64_t offset, std::string_view bytes) const {
    const UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(bytes.size()));
  }
  void Flip(uint64_t offset) const {
    const std::string flipped(1, static_cast<char>(good_[offset] ^ 0x10));
    Write(offset, flipped);
  }
  void Restore(uint64_t offset) const { Write(offset, Bytes(offset, 1)); }

  // How many files are found right; the others are absent or refused, none is wrong.
  uint64_t CountRight(DiskCache& cache) const {
    uint64_t right = 0;
    for (uint64_t id = 0; id < kFiles; ++id) {
      const Found found = FindInDiskCache(cache, id);
      EXPECT_NE(found, Found::kWrong) << id;
      right += found == Found::kRight ? 1 : 0;
    }
    return right;
  }
  std::unique_ptr<DiskCache> OpenWithNotes(size_t wanted) const {
    std::vector<std::string> notes;
    auto cache = DiskCache::Open(options_, notes);
    EXPECT_TRUE(cache.ok()) << cache.status().text();
    EXPECT_EQ(notes.size(), wanted) << (notes.empty() ? "" : notes[0]);
    return *std::move(cache);
  }

  DiskCacheTestFolder folder_;
  DiskCache::Options options_;
  std::string path_;
  std::string good_;
  std::vector<DiskCache::Place> places_;
};

TEST_F(DiskCacheDamageTest, AnyByteOfTheHeader) {
  ReadIn();
  for (uint64_t at = 0; at < sizeof(DiskCacheHeader); ++at) {
    SCOPED_TRACE(at);
    Flip(at);
    EXPECT_EQ(CountRight(*OpenWithNotes(1)), 0U);
    Restore(at);
  }
  EXPECT_EQ(CountRight(*OpenWithNotes(0)), kFiles);
}

TEST_F(DiskCacheDamageTest, AnyByteOfALogEntry) {
  ReadIn();
  options_.direct = false;  // not what is looked at here
  for (const uint64_t slot : {0U, 1U, 2U, 7U}) {
    for (uint64_t at = 0; at < sizeof(DiskCacheLogSlot); ++at) {
      SCOPED_TRACE(at);
      const uint64_t offset = kDiskCacheHeaderBytes + slot * sizeof(DiskCacheLogSlot) + at;
      Flip(offset);
      const auto cache = OpenWithNotes(0);
      EXPECT_EQ(cache->counters().files, kFiles - 1);
      EXPECT_EQ(cache->counters().bad_entries, slot == 1 ? 2U : 1U) << "without its second, the first is of no use";
      Restore(offset);
    }
  }
  EXPECT_EQ(CountRight(*OpenWithNotes(0)), kFiles);
}

TEST_F(DiskCacheDamageTest, AnyRegionOfTheFiles) {
  ReadIn();
  for (uint64_t id = 0; id < kFiles; ++id) {
    SCOPED_TRACE(id);
    const DiskCache::Place& place = places_[id];
    for (size_t block = 0; block < place.block_count(); ++block) {
      const uint64_t last = place.BlockBytes(block) - 1;
      for (const uint64_t at : {uint64_t{0}, last / 2, last}) {
        Flip(place.BlockOffset(block) + at);
        auto cache = OpenWithNotes(0);
        EXPECT_EQ(FindInDiskCache(*cache, id), Found::kRefused);
        EXPECT_EQ(FindInDiskCache(*cache, id), Found::kAbsent) << "it was forgotten";
        EXPECT_EQ(FindInDiskCache(*cache, (id + 1) % kFiles), Found::kRight);
        Restore(place.BlockOffset(block) + at);
        cache.reset();
        EXPECT_EQ(FindInDiskCache(*OpenWithNotes(0), id), Found::kAbsent) << "in later runs, too";
        Write(kDiskCacheHeaderBytes, Bytes(kDiskCacheHeaderBytes, size_t{64} * 200));
      }
    }
  }
}

TEST_F(DiskCacheDamageTest, RandomBytesAnywhere) {
  ReadIn();
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    const bool in_log = round % 2 == 0;
    const uint64_t begin = in_log ? kDiskCacheHeaderBytes : 0;
    const uint64_t end = in_log ? kDiskCacheHeaderBytes + uint64_t{64} * 60 : good_.size();
    const uint64_t offset = begin + random() % (end - begin);
    std::string garbage(std::min<uint64_t>(1 + random() % 5000, good_.size() - offset), '\0');
    for (char& byte : garbage) byte = static_cast<char>(random());
    Write(offset, garbage);
    std::vector<std::string> notes;
    const auto cache = DiskCache::Open(options_, notes);
    ASSERT_TRUE(cache.ok());
    CountRight(**cache);
    // Whoever goes on with it leaves what is good, and what it adds is found.
    if (InsertIntoDiskCache(**cache, 1000 + static_cast<uint64_t>(round)) == Inserted::kYes) {
      EXPECT_EQ(FindInDiskCache(**cache, 1000 + static_cast<uint64_t>(round)), Found::kRight);
    }
    Write(0, good_);
  }
}

// After power was lost: pages of the log and of files that were never written are zero.
TEST_F(DiskCacheDamageTest, PagesThatWereNeverWritten) {
  ReadIn();
  const std::string zeros(4096, '\0');
  for (uint64_t page = 1; page < good_.size() / 4096; page += page < 3 ? 1 : 97) {
    Write(page * 4096, zeros);
    const auto cache = OpenWithNotes(0);
    CountRight(*cache);
    Write(0, good_);
  }
  Write(kDiskCacheHeaderBytes, std::string(size_t{64} * 20, '\0'));  // the first entries
  const auto cache = OpenWithNotes(0);
  EXPECT_GE(CountRight(*cache), kFiles - 20);
  for (uint64_t id = 0; id < kFiles; ++id) {
    InsertIntoDiskCache(*cache, id);
    EXPECT_EQ(FindInDiskCache(*cache, id), Found::kRight) << id;
  }
}

TEST_F(DiskCacheDamageTest, CutWhileInUse) {
  ReadIn();
  for (uint64_t size = good_.size(); size > 0; size = size * 3 / 4) {
    const auto cache = OpenWithNotes(0);
    ASSERT_EQ(cache->counters().files, kFiles);
    ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(size)), 0);
    EXPECT_LE(CountRight(*cache), kFiles);
    RefreshDiskCache(*cache);
    Write(0, good_);
  }
}

TEST_F(DiskCacheDamageTest, CutBeforeItIsOpened) {
  ReadIn();
  for (uint64_t size = good_.size(); size > 4096; size = size * 3 / 4) {
    ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(size)), 0);
    const auto cache = OpenWithNotes(0);
    const uint64_t there = cache->counters().files;
    EXPECT_EQ(CountRight(*cache), there) << "what lies beyond the end is not found";
    Write(0, good_);
  }
}

TEST_F(DiskCacheDamageTest, CutWhileItIsWritten) {
  const auto cache = OpenWithNotes(0);
  ASSERT_EQ(InsertIntoDiskCache(*cache, 100), Inserted::kYes);
  ASSERT_EQ(::truncate(path_.c_str(), 0), 0);
  for (uint64_t id = 101; id < 140; ++id) {
    EXPECT_EQ(InsertIntoDiskCache(*cache, id), Inserted::kYes);
    EXPECT_EQ(FindInDiskCache(*cache, id), Found::kRight);
  }
  EXPECT_LT(CountRight(*cache), kFiles);
}

TEST_F(DiskCacheDamageTest, RemovedWhileInUse) {
  const auto cache = OpenWithNotes(0);
  ASSERT_EQ(InsertIntoDiskCache(*cache, 100), Inserted::kYes);
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  EXPECT_EQ(CountRight(*cache), kFiles) << "the kernel keeps it while it is open";
  RefreshDiskCache(*cache);
  EXPECT_EQ(cache->counters().files, 0U) << "and its room is given back after the next look";
  EXPECT_EQ(cache->counters().segments, 0U);
  EXPECT_EQ(InsertIntoDiskCache(*cache, 101), Inserted::kYes);
  EXPECT_EQ(FindInDiskCache(*cache, 101), Found::kRight);
  EXPECT_EQ(folder_.files().size(), 1U);
}

TEST_F(DiskCacheDamageTest, TheWholeFolderRemovedWhileInUse) {
  const auto cache = OpenWithNotes(0);
  std::filesystem::remove_all(folder_.path());
  std::vector<std::string> notes;
  cache->Refresh(notes);
  EXPECT_EQ(cache->counters().files, 0U);
  EXPECT_EQ(InsertIntoDiskCache(*cache, 101), Inserted::kFailed);
  EXPECT_FALSE(cache->failure().ok());
}

TEST_F(DiskCacheDamageTest, ReplacedByAnotherFileOfThatName) {
  const auto cache = OpenWithNotes(0);
  ReadIn();
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  {
    const UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(fd.valid());
  }
  Write(0, good_);
  RefreshDiskCache(*cache);
  EXPECT_EQ(CountRight(*cache), kFiles);
}

TEST_F(DiskCacheDamageTest, AnotherVersionIsLeftAlone) {
  DiskCacheHeader header{};
  {
    const UniqueFd fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::pread(fd.get(), &header, sizeof(header), 0), static_cast<ssize_t>(sizeof(header)));
  }
  header.version = kDiskCacheVersion + 1;
  Write(0, {reinterpret_cast<const char*>(&header), sizeof(header)});
  ReadIn();
  folder_.Age(1000);
  std::vector<std::string> notes;
  options_.bytes_max = DiskCache::kBytesMin;  // less than it takes
  options_.segment_bytes = 2 * kMiB;
  const auto cache = DiskCache::Open(options_, notes);
  ASSERT_TRUE(cache.ok());
  EXPECT_NE(notes.back().find("another version"), std::string::npos) << notes.back();
  EXPECT_EQ(CountRight(**cache), 0U);
  InsertIntoDiskCache(**cache, 1, 2000);
  EXPECT_TRUE(std::filesystem::exists(path_));
  const std::string before = good_;
  ReadIn();
  EXPECT_TRUE(before == good_);
  EXPECT_GE((*cache)->counters().bytes, good_.size()) << "but its size counts";
}

TEST_F(DiskCacheDamageTest, WhatDiedBeforeItHadAHeaderIsRemoved) {
  const std::string unborn = folder_.path() + "/augurfs-decoded-0123456789abcdef";
  { const UniqueFd fd(::open(unborn.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)); }
  const auto cache = OpenWithNotes(0);
  EXPECT_FALSE(std::filesystem::exists(unborn));
  EXPECT_EQ(CountRight(*cache), kFiles);
}

TEST_F(DiskCacheDamageTest, OtherFilesInTheFolderAreNotTouched) {
  for (const char* name :
       {"notes.txt", "augurfs-decoded-", "augurfs-decoded-0123456789abcdeg", "augurfs-decoded-0123456789abcdef0"}) {
    std::ofstream(folder_.path() + "/" + name);
  }
  const auto cache = OpenWithNotes(0);
  EXPECT_EQ(CountRight(*cache), kFiles);
  EXPECT_EQ(folder_.files().size(), 5U);
}

}  // namespace
}  // namespace augur
