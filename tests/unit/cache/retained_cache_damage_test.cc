// SPDX-License-Identifier: Apache-2.0
// Bits of the file are flipped while nobody has it open. Promise: never wrong bytes, never a crash.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>

#include "base/unique_fd.h"
#include "base/units.h"
#include "cache/retained_cache_layout.h"
#include "unit/cache/retained_cache_support.h"

namespace augur {
namespace {

using Inserted = RetainedCache::Inserted;
constexpr uint64_t kIds = 300;

class RetainedCacheDamageTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto retained_cache = folder_.Open(6 * kMiB);
    for (uint64_t id = 0; id < kIds; ++id) retained_cache->Insert(TestKey(id), TestBlock(id));
    ASSERT_GT(retained_cache->block_count(), 200U);
    path_ = retained_cache->path();
    const UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    std::vector<std::byte> header(sizeof(RetainedCacheHeader));
    ASSERT_EQ(::pread(fd.get(), header.data(), header.size(), 0), static_cast<ssize_t>(header.size()));
    const auto* const fields = reinterpret_cast<const RetainedCacheHeader*>(header.data());
    geometry_ = {.slab_count = fields->slab_count.Load(), .bucket_count = fields->bucket_count.Load()};
    item_high_ = fields->item_high.Load();
    slabs_present_ = fields->slabs_present.Load();
  }

  void Write(uint64_t offset, const void* bytes, size_t count) {
    const UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(fd.get(), bytes, count, static_cast<off_t>(offset)), static_cast<ssize_t>(count));
  }
  template <typename T>
  void Write(uint64_t offset, T value) {
    Write(offset, &value, sizeof(value));
  }
  void FlipBit(uint64_t offset, unsigned bit) {
    const UniqueFd fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    unsigned char byte = 0;
    ASSERT_EQ(::pread(fd.get(), &byte, 1, static_cast<off_t>(offset)), 1);
    byte = static_cast<unsigned char>(byte ^ (1U << bit));
    ASSERT_EQ(::pwrite(fd.get(), &byte, 1, static_cast<off_t>(offset)), 1);
  }
  uint64_t ItemOffset(uint32_t item) const { return geometry_.items_offset() + item * sizeof(RetainedCacheItem); }

  std::unique_ptr<RetainedCache> OpenDamaged() {
    std::vector<std::string> notes;
    auto retained_cache = RetainedCache::Open(folder_.options(6 * kMiB), notes);
    EXPECT_TRUE(retained_cache.ok());
    EXPECT_EQ((*retained_cache)->place(), RetainedCache::Place::kShm) << notes[0];
    notes_ = notes;
    return *std::move(retained_cache);
  }

  // Everything there is is right, and it can be used as before. Returns how many blocks were found.
  uint64_t ExpectSound(RetainedCache& retained_cache) {
    uint64_t found = 0;
    for (uint64_t id = 0; id < kIds; ++id) {
      const int there = FindRight(retained_cache, id);
      EXPECT_GE(there, 0) << id;
      found += there > 0 ? 1 : 0;
    }
    EXPECT_TRUE(RandomSteps(retained_cache, 1, 2 * kIds, 300));
    retained_cache.Clear();
    EXPECT_EQ(retained_cache.used_bytes(), 0U);
    EXPECT_EQ(retained_cache.block_count(), 0U);
    uint64_t id = 0;
    while (retained_cache.Insert(TestKey(id), TestBlock(id)) == Inserted::kYes) ++id;
    EXPECT_GT(retained_cache.used_bytes() + RetainedCache::RoomFor(TestBlockBytes(id)), retained_cache.bytes_max());
    return found;
  }

  RetainedCacheFolder folder_;
  std::string path_;
  RetainedCacheGeometry geometry_;
  uint32_t item_high_ = 0;
  uint32_t slabs_present_ = 0;
  std::vector<std::string> notes_;
};

class RetainedCacheFlipTest : public RetainedCacheDamageTest, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Rounds, RetainedCacheFlipTest, testing::Range(0, 40));

TEST_P(RetainedCacheFlipTest, RandomBitsAnywhere) {
  const uint64_t seed = std::random_device()() + static_cast<uint64_t>(GetParam());
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const int count = 1 << (random() % 10);
  for (int flip = 0; flip < count; ++flip) {
    const auto bit = static_cast<unsigned>(random() % 8);
    const uint64_t r = random();
    switch (random() % 6) {
      case 0:  // what is guarded by the lock: limits, counts, lists
        FlipBit(offsetof(RetainedCacheHeader, limit_bytes) + r % 80, bit);
        break;
      case 1: FlipBit(geometry_.slab_table_offset() + r % (uint64_t{slabs_present_ + 2} * 4), bit); break;
      case 2: FlipBit(geometry_.buckets_offset() + r % (uint64_t{geometry_.bucket_count} * 4), bit); break;
      case 3: FlipBit(geometry_.items_offset() + r % (uint64_t{item_high_} * sizeof(RetainedCacheItem)), bit); break;
      case 4:  // tables of slabs
        FlipBit(geometry_.slab_offset(static_cast<uint32_t>(random() % slabs_present_)) + r % sizeof(SlabTable), bit);
        break;
      default:  // anything that has memory
        FlipBit(geometry_.slabs_offset() + r % (slabs_present_ * kSlabBytes), bit);
    }
  }
  ExpectSound(*OpenDamaged());
}

TEST_F(RetainedCacheDamageTest, AHeaderThatSaysSomethingElseIsReplaced) {
  const std::vector<std::pair<size_t, size_t>> fields = {
      {offsetof(RetainedCacheHeader, magic), 8},       {offsetof(RetainedCacheHeader, version), 4},
      {offsetof(RetainedCacheHeader, boot_id), 40},    {offsetof(RetainedCacheHeader, identity_bytes), 4},
      {offsetof(RetainedCacheHeader, slab_count), 4},  {offsetof(RetainedCacheHeader, bucket_count), 4},
      {offsetof(RetainedCacheHeader, identity), 2048},
  };
  for (const auto& [offset, bytes] : fields) {
    SCOPED_TRACE(offset);
    const std::vector<std::byte> wrong(bytes, std::byte{0xFF});
    Write(offset, wrong.data(), wrong.size());
    const auto retained_cache = OpenDamaged();
    ASSERT_EQ(notes_.size(), 1U);
    EXPECT_NE(notes_[0].find("thrown away"), std::string::npos) << notes_[0];
    EXPECT_EQ(retained_cache->block_count(), 0U);
    EXPECT_EQ(retained_cache->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
    EXPECT_EQ(folder_.files().size(), 1U);
  }
}

TEST_F(RetainedCacheDamageTest, AFileThatWasCutIsReplaced) {
  for (const off_t size : {off_t{1}, off_t{4095}, off_t{4096}, static_cast<off_t>(geometry_.slabs_offset())}) {
    ASSERT_EQ(::truncate(path_.c_str(), size), 0);
    const auto retained_cache = OpenDamaged();
    EXPECT_EQ(notes_.size(), 1U);
    EXPECT_EQ(retained_cache->block_count(), 0U);
  }
}

// The header speaks of slabs that are holes: they are not believed to be memory, and it is not got for them.
TEST_F(RetainedCacheDamageTest, SlabsThatAreNotThere) {
  for (uint32_t slab = slabs_present_; slab < slabs_present_ + 500; ++slab) {
    Write(geometry_.slab_table_offset() + uint64_t{slab} * 4, uint32_t{511});
  }
  const auto retained_cache = OpenDamaged();
  EXPECT_EQ(notes_.size(), 1U);
  EXPECT_LT(retained_cache->held_bytes(), kMiB);
  ExpectSound(*retained_cache);
}

TEST_F(RetainedCacheDamageTest, AHoleInASlabIsFilledAndItsBytesAreNotTaken) {
  {
    const UniqueFd fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                          static_cast<off_t>(geometry_.slab_offset(0)), kSlabBytes),
              0);
    // As much elsewhere, so that the sum is right.
    ASSERT_EQ(::posix_fallocate(fd.get(), static_cast<off_t>(geometry_.slab_offset(9)), kSlabBytes), 0);
  }
  const uint64_t found = ExpectSound(*OpenDamaged());
  EXPECT_LT(found, kIds);
}

TEST_F(RetainedCacheDamageTest, ChainsThatMeetOrRunInACircle) {
  // Item 0 of a fresh retained cache is not used first; whichever are used, make all begin at one page.
  uint32_t first_page = 0;
  std::vector<uint32_t> used;
  const UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  for (uint32_t item = 0; item < item_high_; ++item) {
    RetainedCacheItem there{};
    ASSERT_EQ(::pread(fd.get(), &there, sizeof(there), static_cast<off_t>(ItemOffset(item))), 64);
    if (there.state.Load() != kItemReady) continue;
    used.push_back(item);
    first_page = there.first_page.Load();
  }
  ASSERT_GT(used.size(), 200U);
  for (size_t at = 0; at < used.size(); at += 2)
    Write(ItemOffset(used[at]) + offsetof(RetainedCacheItem, first_page), first_page);
  const uint32_t in_slab = first_page % kSlabPages;
  Write(geometry_.slab_offset(first_page / kSlabPages) + uint64_t{in_slab} * 4, first_page);
  const uint64_t found = ExpectSound(*OpenDamaged());
  EXPECT_GE(found, used.size() / 2 - 2);
  EXPECT_LE(found, used.size() / 2 + 2);
}

}  // namespace
}  // namespace augur
