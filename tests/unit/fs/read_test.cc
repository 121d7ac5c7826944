// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <thread>

#include "store/sha256.h"
#include "unit/fs/store_fixture.h"

namespace augur {
namespace {

constexpr size_t kLargeBytes = 5 * kBlockBytes + 12'345;

class ReadTest : public StoreFixture {
 protected:
  void SetUp() override {
    files_ = {{"empty", ""},
              {"tiny", "x"},
              {"photo", RandomBytes(110'000, 1)},
              {"block", RandomBytes(kBlockBytes, 2)},
              {"large", RandomBytes(kLargeBytes, 3)}};
    Write([&](StoreWriter& writer) {
      for (const auto& [name, bytes] : files_) {
        ASSERT_TRUE(writer.AddFile(name, {.mode = 0644}, {}, AsBytes(bytes)).ok());
      }
    });
  }

  // Changes one byte of `name` on the disk, `at` bytes into it.
  void FlipByte(const std::string& name, uint64_t at) {
    const auto store = Store::Open(store_path());
    ASSERT_TRUE(store.ok());
    const auto entry = (*store)->Find(name);
    ASSERT_TRUE(entry.ok());
    const auto shard = (*store)->OpenShard(entry->shard);
    ASSERT_TRUE(shard.ok());
    const int fd = ::open((*shard)->path().c_str(), O_RDWR);
    ASSERT_GE(fd, 0);
    char byte = 0;
    const auto position = static_cast<off_t>(entry->offset + at);
    ASSERT_EQ(::pread(fd, &byte, 1, position), 1);
    byte = static_cast<char>(byte ^ 0x10);
    ASSERT_EQ(::pwrite(fd, &byte, 1, position), 1);
    ::close(fd);
  }

  std::map<std::string, std::string> files_;
};

// R1, R4: any range of any file gives its bytes, short only at the end.
TEST_F(ReadTest, EveryRangeIsExact) {
  Open();
  std::mt19937_64 random(4);
  for (const auto& [name, bytes] : files_) {
    const NodeId node = NodeOf(name);
    for (int i = 0; i < 200; ++i) {
      const uint64_t offset = random() % (bytes.size() + 10);
      const size_t count = random() % (kReadBytesMax + 1);
      const auto read = ReadNow(node, offset, count);
      ASSERT_TRUE(read.ok()) << read.status().text();
      ASSERT_EQ(*read, offset < bytes.size() ? bytes.substr(offset, count) : "")
          << name << " " << offset << "+" << count;
    }
    const auto far = ReadNow(node, ~uint64_t{0} - 5, 100);
    ASSERT_TRUE(far.ok());
    EXPECT_EQ(*far, "");
  }
}

// R6: many readers get the same bytes, and what they want together is read once.
TEST_F(ReadTest, ManyReadersShareOneDiskRead) {
  Open();
  const NodeId node = NodeOf("photo");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  readers.reserve(8);
  for (int i = 0; i < 8; ++i) {
    readers.emplace_back([&, i] {
      std::mt19937_64 random(i);
      for (int j = 0; j < 200; ++j) {
        const uint64_t offset = random() % 110'000;
        const auto read = ReadNow(node, offset, 4096);
        if (!read.ok() || *read != files_["photo"].substr(offset, 4096)) ++wrong;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(statistics_.Get(Stat::kDiskReads), 1u);
  shards_->Drain();
  engine_.reset();  // its thread may still hold what it has delivered
  EXPECT_EQ(cache_.busy_blocks(), 0u);
}

// R2: wrong bytes are EIO for that record, counted, and nothing else suffers.
TEST_F(ReadTest, CorruptRecordFailsAlone) {
  FlipByte("photo", 109'999);
  Open();
  EXPECT_EQ(ReadNow(NodeOf("photo"), 0, 10).status().code(), Code::kCorrupt);
  EXPECT_EQ(statistics_.Get(Stat::kCorruptBlocks), 1u);
  EXPECT_TRUE(ReadNow(NodeOf("block"), 0, 10).ok());
  // Nothing is remembered: right bytes again are served again.
  FlipByte("photo", 109'999);
  const auto read = ReadNow(NodeOf("photo"), 0, 110'000);
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(*read, files_["photo"]);
}

// R1, R2: a large file is checked by blocks, so a bad one spoils only the reads that touch it.
TEST_F(ReadTest, CorruptBlockFailsAlone) {
  FlipByte("large", 2 * kBlockBytes + 5);
  Open();
  const NodeId node = NodeOf("large");
  const auto before = ReadNow(node, kBlockBytes, kBlockBytes);
  ASSERT_TRUE(before.ok()) << before.status().text();
  EXPECT_EQ(*before, files_["large"].substr(kBlockBytes, kBlockBytes));
  EXPECT_EQ(ReadNow(node, 2 * kBlockBytes - 1, 2).status().code(), Code::kCorrupt);
  EXPECT_EQ(ReadNow(node, 3 * kBlockBytes - 1, 1).status().code(), Code::kCorrupt);
  const auto after = ReadNow(node, 3 * kBlockBytes + 7, kReadBytesMax);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(*after, files_["large"].substr(3 * kBlockBytes + 7, kReadBytesMax));
}

// R3: a shard that has been cut is refused by name.
TEST_F(ReadTest, TruncatedShardFails) {
  const std::string shard = store_path() + "/shard-00000001-00000";
  std::filesystem::resize_file(shard, std::filesystem::file_size(shard) - 1);
  Open();
  const auto read = ReadNow(NodeOf("photo"), 0, 10);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().text().find("shard-00000001-00000"), std::string::npos) << read.status().text();
}

// R1: hashes can be forged, so the hash of a record is not what it is found by. Here two records have the same hash and
// size because the one who packed them says so.
TEST_F(ReadTest, AForgedHashIsNoIdentity) {
  const std::string honest = RandomBytes(50'000, 6);
  const std::string forged = RandomBytes(50'000, 7);
  std::filesystem::remove_all(store_path());
  Write([&](StoreWriter& writer) {
    const RecordHashes hash = HashRecord(AsBytes(honest));
    ASSERT_TRUE(writer.AddFile("honest", {.mode = 0644}, {}, AsBytes(honest), hash).ok());
    ASSERT_TRUE(writer.AddFile("forged", {.mode = 0644}, {}, AsBytes(forged), hash).ok());
    ASSERT_TRUE(writer.AddFile("twin", {.mode = 0644}, {}, AsBytes(honest), hash).ok());
  });
  Open();
  ASSERT_EQ(*ReadNow(NodeOf("honest"), 0, honest.size()), honest);
  EXPECT_EQ(ReadNow(NodeOf("forged"), 0, forged.size()).status().code(), Code::kCorrupt);
  // Files with the same bytes have the same record, which is read once.
  const uint64_t reads = statistics_.Get(Stat::kDiskReads);
  EXPECT_EQ(*ReadNow(NodeOf("twin"), 0, honest.size()), honest);
  EXPECT_EQ(statistics_.Get(Stat::kDiskReads), reads);
}

// R7, C4: the same over both engines; memory stays within the pool while more is in flight than it holds.
class EngineTest : public ReadTest, public ::testing::WithParamInterface<EngineKind> {};

TEST_P(EngineTest, ReadsWithinTheBudget) {
  auto engine = MakeReadEngine(GetParam(), 8);
  if (!engine.ok()) GTEST_SKIP() << engine.status().text();
  Open(std::move(engine).value());
  const NodeId node = NodeOf("large");
  constexpr int kReads = 400;  // 1 MiB each: 25 times the pool
  std::atomic<int> right = 0;
  std::atomic<int> ended = 0;
  for (int i = 0; i < kReads; ++i) {
    const uint64_t offset = (i % 5) * kBlockBytes;
    fs_->Read(node, offset, 1000, [&, offset](Result<ReadReply> reply) {
      if (reply.ok() && reply->pieces.size() == 1 && pool_.touched_bytes() <= kMemoryBytes &&
          std::memcmp(reply->pieces[0].data(), files_["large"].data() + offset, 1000) == 0) {
        ++right;
      }
      ++ended;
    });
  }
  shards_->Drain();
  engine_.reset();
  EXPECT_EQ(ended, kReads);
  EXPECT_EQ(right, kReads);
  EXPECT_EQ(cache_.busy_blocks(), 0u);
}

// C4: reads that hold one block while they wait for another must not wait for each other: the pool holds four blocks,
// and twenty reads want two each, no block twice.
TEST_P(EngineTest, SplitReadsMakeProgressInASmallPool) {
  constexpr int kFiles = 20;
  const std::string bytes = RandomBytes(2 * kBlockBytes + kFiles, 5);
  std::filesystem::remove_all(store_path());
  Write([&](StoreWriter& writer) {
    for (int i = 0; i < kFiles; ++i) {
      const std::string own = bytes.substr(i, 2 * kBlockBytes);
      ASSERT_TRUE(writer.AddFile("f" + std::to_string(i), {.mode = 0644}, {}, AsBytes(own)).ok());
    }
  });
  auto engine = MakeReadEngine(GetParam(), 8);
  if (!engine.ok()) GTEST_SKIP() << engine.status().text();
  BufferPool pool(4 * (kBlockBytes + BufferPool::kGranuleBytes));
  RecordCache cache(pool);
  auto store = Store::Open(store_path(), {.direct = true});
  ASSERT_TRUE(store.ok());
  const std::unique_ptr<ShardSource> shards =
      (*store)->files().MakeSource(*store, **engine, ReadPurpose::kDemand, StoreFiles::NothingBefore);
  FileSystem fs(*store, *shards, cache, statistics_, {});
  std::atomic<int> right = 0;
  std::atomic<int> ended = 0;
  for (int i = 0; i < kFiles; ++i) {
    const auto attributes = fs.Lookup(kRootNode, "f" + std::to_string(i));
    ASSERT_TRUE(attributes.ok());
    fs.Read(attributes->node, kBlockBytes - 500, 1000, [&, i](Result<ReadReply> reply) {
      ++ended;
      if (!reply.ok()) return;
      std::string text;
      for (const auto piece : reply->pieces) text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      if (text == bytes.substr(i + kBlockBytes - 500, 1000)) ++right;
    });
  }
  shards->Drain();
  engine->reset();
  EXPECT_EQ(ended, kFiles);
  EXPECT_EQ(right, kFiles);
  EXPECT_EQ(cache.busy_blocks(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineTest, ::testing::Values(EngineKind::kUring, EngineKind::kPread));

}  // namespace
}  // namespace augur
