// SPDX-License-Identifier: Apache-2.0
#include "augur/store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "store/local_files.h"
#include "unit/store/test_store.h"

namespace augur {
namespace {

using namespace augur::testing;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

std::shared_ptr<const Store> OpenGood(const std::string& folder, const StoreOptions& options = {}) {
  Result<std::shared_ptr<const Store>> store = Store::Open(folder, options);
  EXPECT_TRUE(store.ok()) << store.status().text();
  return store.ok() ? *store : nullptr;
}

// All bytes of a file, read and checked block by block.
Result<std::string> ReadWhole(const Store& store, const Entry& file) {
  std::string bytes(file.size, '\0');
  for (uint64_t block = 0; block < Store::BlockCount(file); ++block) {
    AUGUR_TRY(store.Read(
        file, block,
        std::as_writable_bytes(std::span(bytes)).subspan(block * kBlockBytes, Store::BlockBytes(file, block))));
  }
  return bytes;
}

class SmallStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SmallStore().Write(folder_.path());
    store_ = OpenGood(folder_.path());
    ASSERT_NE(store_, nullptr);
  }

  TempFolder folder_;
  std::shared_ptr<const Store> store_;
};

TEST_F(SmallStoreTest, SaysWhatTheHeaderStates) {
  const StoreSummary& summary = store_->summary();
  EXPECT_EQ(summary.generation, 1U);
  EXPECT_EQ(summary.entry_count, 9U);
  EXPECT_EQ(summary.file_count, 5U);
  EXPECT_EQ(summary.directory_count, 3U);
  EXPECT_EQ(summary.symlink_count, 1U);
  EXPECT_EQ(summary.image_count, 2U);
  EXPECT_EQ(summary.tree_bytes, kBigBytes + 3000 + 3000 + 700);
  EXPECT_EQ(summary.record_bytes, kBigBytes + 3000 + 700);
  EXPECT_EQ(summary.index_bytes, 3 * 65536U - 65536U + 8);
  EXPECT_EQ(summary.shard_count, 2U);
  EXPECT_EQ(summary.writer, "test 1.0");
  EXPECT_EQ(store_->path(), folder_.path());
}

TEST_F(SmallStoreTest, GetHandsOutEveryField) {
  const Result<Entry> one = store_->Get(kOne);
  ASSERT_TRUE(one.ok()) << one.status().text();
  EXPECT_EQ(one->number, kOne);
  EXPECT_EQ(one->parent, kDirA);
  EXPECT_EQ(one->name, "one.jpg");
  EXPECT_EQ(one->type, EntryType::kFile);
  EXPECT_EQ(one->mode, 0100644U);
  EXPECT_EQ(one->mtime_sec, 1'700'000'000);
  EXPECT_EQ(one->mtime_nsec, 123'456'789U);
  EXPECT_EQ(one->size, 3000U);
  EXPECT_EQ(one->offset, 64 + kBigBytes);
  EXPECT_EQ(one->shard, 0U);
  const format::Hash hash = HashOf(OneBytes());
  EXPECT_EQ(one->hash, (Hash128{.low = hash.low, .high = hash.high}));
  EXPECT_EQ(one->image, (ImageInfo{.width = 64,
                                   .height = 48,
                                   .exif_bytes = 10,
                                   .kind = ImageKind::kJpeg,
                                   .channels = 3,
                                   .orientation = 6,
                                   .bit_depth = 8}));
  EXPECT_EQ(store_->Get(kSmallCount).status().code(), Code::kNotFound);
  EXPECT_EQ(store_->Get(~uint64_t{0}).status().code(), Code::kNotFound);
}

TEST_F(SmallStoreTest, ChildrenComeInNameOrder) {
  const Result<Entry> root = store_->Get(0);
  ASSERT_TRUE(root.ok());
  std::vector<std::string> names;
  for (uint64_t i = 0; i < root->size; ++i) {
    const Result<Entry> child = store_->Child(*root, i);
    ASSERT_TRUE(child.ok()) << child.status().text();
    EXPECT_EQ(child->number, i + 1);
    names.emplace_back(child->name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a", "empty", "link", "tar.bin", "twin.jpg", "zero"}));
}

TEST_F(SmallStoreTest, FindAndPathOfAreInverse) {
  for (uint64_t number = 0; number < kSmallCount; ++number) {
    const Result<std::string> path = store_->PathOf(number);
    ASSERT_TRUE(path.ok()) << path.status().text();
    const Result<Entry> found = store_->Find(*path);
    ASSERT_TRUE(found.ok()) << *path;
    EXPECT_EQ(found->number, number);
  }
  EXPECT_EQ(*store_->PathOf(kBig), "a/big.bin");
  EXPECT_EQ(*store_->PathOf(kRoot), "");
  EXPECT_EQ(store_->Find("/a//one.jpg/")->number, kOne);
  for (const char* absent : {"b", "a/b", "zero/b", "a/..", ".", "link/x", "a\\one.jpg"}) {
    EXPECT_EQ(store_->Find(absent).status().code(), Code::kNotFound) << absent;
  }
}

TEST_F(SmallStoreTest, LookupKnowsOnlyWholeNames) {
  const Result<Entry> root = store_->Get(0);
  EXPECT_EQ(store_->Lookup(*root, "twin.jpg")->number, kTwin);
  for (const std::string& absent : {std::string(), std::string("twin.jp"), std::string("twin.jpgg"), std::string("A"),
                                    std::string("zzz"), std::string("a\0", 2), std::string(256, 'a')}) {
    EXPECT_EQ(store_->Lookup(*root, absent).status().code(), Code::kNotFound) << absent;
  }
  EXPECT_EQ(store_->Lookup(*store_->Get(kEmptyDir), "a").status().code(), Code::kNotFound);
  EXPECT_EQ(store_->Lookup(*store_->Get(kZero), "a").status().code(), Code::kNotFound);
}

TEST_F(SmallStoreTest, LinkTarget) { EXPECT_EQ(*store_->LinkTarget(*store_->Get(kLink)), "a/one.jpg"); }

TEST_F(SmallStoreTest, ReadsEveryRecord) {
  EXPECT_EQ(*ReadWhole(*store_, *store_->Get(kBig)), BigBytes());
  EXPECT_EQ(*ReadWhole(*store_, *store_->Get(kOne)), OneBytes());
  EXPECT_EQ(*ReadWhole(*store_, *store_->Get(kTwin)), OneBytes());
  EXPECT_EQ(*ReadWhole(*store_, *store_->Get(kTar)), TarBytes());
  EXPECT_EQ(Store::BlockCount(*store_->Get(kZero)), 0U);
  EXPECT_EQ(Store::BlockCount(*store_->Get(kOne)), 1U);
  EXPECT_EQ(Store::BlockCount(*store_->Get(kBig)), 3U);
  EXPECT_EQ(Store::BlockBytes(*store_->Get(kBig), 2), kBigBytes - 2 * kBlockBytes);
}

TEST_F(SmallStoreTest, ReadsTheSameWithDirectIo) {
  const std::shared_ptr<const Store> direct = OpenGood(folder_.path(), {.direct = true});
  EXPECT_EQ(*ReadWhole(*direct, *direct->Get(kBig)), BigBytes());
  EXPECT_EQ(*ReadWhole(*direct, *direct->Get(kOne)), OneBytes());
  EXPECT_EQ(*ReadWhole(*direct, *direct->Get(kTar)), TarBytes());
  const auto shard = direct->OpenShard(direct->Get(kOne)->shard);
  ASSERT_TRUE(shard.ok());
  const auto* const file = dynamic_cast<const LocalFile*>(shard->get());
  ASSERT_NE(file, nullptr);
  EXPECT_LE(file->align(), 4096U);
  EXPECT_EQ(file->direct(), file->align() > 1);
}

TEST_F(SmallStoreTest, OpensTheShardOfARecord) {
  const Result<Entry> big = store_->Get(kBig);
  EXPECT_EQ(big->offset, 64U);
  const auto& files = dynamic_cast<const LocalFiles&>(store_->files());
  EXPECT_EQ(files.OpenedShard(big->shard), nullptr);
  const auto shard = store_->OpenShard(big->shard);
  ASSERT_TRUE(shard.ok()) << shard.status().text();
  EXPECT_EQ(files.OpenedShard(big->shard), *shard);
  EXPECT_EQ((*shard)->path(), folder_.path() + "/shard-00000001-00000");
  EXPECT_EQ((*shard)->bytes(), ReadFile((*shard)->path()).size());
}

TEST_F(SmallStoreTest, CheckComparesWithTheHashOfTheBlock) {
  const Result<Entry> big = store_->Get(kBig);
  std::string bytes = BigBytes().substr(kBlockBytes, kBlockBytes);
  EXPECT_TRUE(store_->Check(*big, 1, std::as_bytes(std::span(bytes))).ok());
  bytes[5] ^= 1;
  const Status status = store_->Check(*big, 1, std::as_bytes(std::span(bytes)));
  EXPECT_EQ(status.code(), Code::kCorrupt);
  EXPECT_EQ(status.text(), "shard-00000001-00000: record 7 block 1 (a/big.bin): checksum mismatch");
  bytes = OneBytes();
  bytes[2999] ^= 1;
  EXPECT_EQ(store_->Check(*store_->Get(kTwin), 0, std::as_bytes(std::span(bytes))).text(),
            "shard-00000001-00000: record 5 (twin.jpg): checksum mismatch");
}

TEST_F(SmallStoreTest, ShardRows) {
  const Result<ShardInfo> own = store_->Shard(0);
  ASSERT_TRUE(own.ok());
  EXPECT_FALSE(own->foreign);
  EXPECT_EQ(own->locator, "shard-00000001-00000");
  EXPECT_EQ(own->generation, 1U);
  const Result<ShardInfo> foreign = store_->Shard(1);
  ASSERT_TRUE(foreign.ok());
  EXPECT_TRUE(foreign->foreign);
  EXPECT_FALSE(foreign->absolute);
  EXPECT_EQ(foreign->path, folder_.path() + "/foreign.tar");
  EXPECT_EQ(foreign->bytes, 2048U);
  EXPECT_EQ(foreign->token_sec, 1'600'000'000);
  EXPECT_EQ(foreign->token_nsec, 7U);
}

TEST_F(SmallStoreTest, TellsHowMuchOfTheIndexItHolds) {
  ASSERT_TRUE(store_->Get(0).ok());
  EXPECT_GE(store_->HeldIndexBytes(), 65536U);
  EXPECT_LE(store_->HeldIndexBytes(), store_->IndexBytesMax());
}

TEST(WideStoreTest, FindsEveryNameAndNoOther) {
  const TempFolder folder;
  constexpr uint64_t kCount = 5000;
  WideStore(kCount).Write(folder.path());
  const std::shared_ptr<const Store> store = OpenGood(folder.path());
  const Result<Entry> root = store->Get(0);
  for (uint64_t i = 0; i < kCount; ++i) {
    char name[16];
    std::snprintf(name, sizeof(name), "f%06u", static_cast<unsigned>(i));
    const Result<Entry> found = store->Lookup(*root, name);
    ASSERT_TRUE(found.ok()) << name << found.status().text();
    EXPECT_EQ(found->number, i + 1);
    EXPECT_EQ(store->Lookup(*root, std::string(name) + "x").status().code(), Code::kNotFound);
  }
}

TEST(WideStoreTest, ABadBlockSpoilsOnlyItsEntries) {
  const TempFolder folder;
  TestStore wide = WideStore(5000);
  // Block 3 of the body has entries 2048 (3 * 65536 / 96) to 2731.
  wide.edit_index = [](std::string& index) { index[65536 + 3 * 65536 + 1000] ^= 1; };
  wide.Write(folder.path());
  const std::shared_ptr<const Store> store = OpenGood(folder.path());
  for (const uint64_t number : {0, 1, 2047, 2732, 5000}) EXPECT_TRUE(store->Get(number).ok()) << number;
  for (const uint64_t number : {2048, 2500, 2730}) {
    const Status status = store->Get(number).status();
    EXPECT_EQ(status.code(), Code::kCorrupt);
    EXPECT_EQ(status.text(), "index-00000001: block 3: checksum mismatch");
  }
}

TEST(WideStoreTest, ABadRootChecksumSpoilsItsBlocks) {
  const TempFolder folder;
  TestStore wide = WideStore(10);
  wide.edit_index = [](std::string& index) { index.back() ^= 1; };  // the last byte is of CHECKSUMS
  wide.Write(folder.path());
  const Result<std::shared_ptr<const Store>> store = Store::Open(folder.path());
  EXPECT_EQ(store.status().code(), Code::kCorrupt);
  EXPECT_THAT(store.status().text(), HasSubstr("index-00000001: root checksum 0: mismatch"));
}

TEST(WideStoreTest, AnIndexThatIsChangedInPlaceChangesNothingThatWasRead) {
  const TempFolder folder;
  WideStore(5000).Write(folder.path());
  const std::shared_ptr<const Store> store = OpenGood(folder.path());
  const Result<Entry> before = store->Get(2100);  // in block 3 of the body
  ASSERT_TRUE(before.ok());
  std::string index = ReadFile(folder.path() + "/index-00000001");
  const size_t at = 65536 + 2100 * sizeof(format::Entry) + offsetof(format::Entry, mtime_sec);
  index[at] = static_cast<char>(index[at] + 1);
  index[65536 + 6 * 65536 + 5] ^= 1;  // block 6, which nobody has read
  {
    const UniqueFd fd(::open((folder.path() + "/index-00000001").c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(fd.get(), index.data(), index.size(), 0), static_cast<ssize_t>(index.size()));
  }
  const Result<Entry> after = store->Get(2100);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->mtime_sec, before->mtime_sec);
  EXPECT_EQ(after->name, before->name);
  EXPECT_EQ(store->Get(4200).status().text(), "index-00000001: block 6: checksum mismatch");
}

TEST(WideStoreTest, AnIndexThatIsMadeShorterFailsWhereItWasNotRead) {
  const TempFolder folder;
  WideStore(5000).Write(folder.path());
  const std::shared_ptr<const Store> store = OpenGood(folder.path());
  ASSERT_TRUE(store->Get(2100).ok());
  ASSERT_EQ(::truncate((folder.path() + "/index-00000001").c_str(), 65536), 0);
  EXPECT_TRUE(store->Get(2100).ok());
  EXPECT_EQ(store->Get(4200).status().code(), Code::kCorrupt);
  EXPECT_THAT(store->Get(4200).status().text(), HasSubstr("index-00000001: ends at byte"));
}

TEST(WideStoreTest, ALittleMemoryForTheIndexIsEnough) {
  constexpr uint64_t kCount = 20'000;
  const TempFolder folder;
  WideStore(kCount).Write(folder.path());
  const std::shared_ptr<const Store> store = OpenGood(folder.path(), {.index_bytes_max = 8 * 65536});
  const Result<Entry> root = store->Get(0);
  ASSERT_TRUE(root.ok());
  for (uint64_t i = 0; i < kCount; ++i) {
    const uint64_t number = i * 7919 % kCount;  // a prime: each once, far from the one before
    const Result<Entry> child = store->Child(*root, number);
    ASSERT_TRUE(child.ok());
    const Result<Entry> found = store->Lookup(*root, child->name);
    ASSERT_TRUE(found.ok()) << child->name;
    EXPECT_EQ(found->number, number + 1);
  }
  // NAMES takes three blocks, which stay.
  EXPECT_LE(store->HeldIndexBytes(), 8 * 65536U);
  EXPECT_EQ(store->IndexBytesMax(), 8 * 65536U);
}

TEST(WideStoreTest, ManyThreadsMayBeTheFirstToTouchABlock) {
  const TempFolder folder;
  WideStore(20'000).Write(folder.path());
  const std::shared_ptr<const Store> store = OpenGood(folder.path());
  std::atomic<uint64_t> good = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (uint64_t number = 0; number <= 20'000; ++number) good += store->Get(number).ok() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 4 * 20'001U);
}

TEST(NameOrder, IsThatOfUnsignedBytes) {
  const TempFolder folder;
  TestStore store = WideStore(3);
  store.SetName(&store.entries[1], "A");
  store.SetName(&store.entries[2], "b");
  store.SetName(&store.entries[3], "\xff\x80");
  store.Write(folder.path());
  const std::shared_ptr<const Store> opened = OpenGood(folder.path());
  const Result<Entry> root = opened->Get(0);
  EXPECT_EQ(opened->Lookup(*root, "\xff\x80")->number, 3U);
  EXPECT_EQ(opened->Lookup(*root, "A")->number, 1U);
  for (uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(opened->Child(*root, i).ok());
}

}  // namespace
}  // namespace augur
