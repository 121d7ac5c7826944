// SPDX-License-Identifier: Apache-2.0
// Blocks of records in a copy on the local disk, and what is still asked of the server.
#include "remote/copied_shards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "augur/store_writer.h"
#include "unit/remote/memory_server.h"
#include "unit/store/test_store.h"

namespace augur {
namespace {

using testing::MemoryServer;

class CopiedShardsTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kFiles = 6;
  static constexpr uint64_t kLarge = 5;  // of four blocks; the others have one

  static std::string Content(uint64_t number) {
    return testing::Noise(number == kLarge ? 3 * kBlockBytes + 4097 : 5000 + number, static_cast<uint32_t>(number));
  }

  void SetUp() override {
    auto writer = StoreWriter::Begin(store_path(), {});
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    for (uint64_t number = 0; number < kFiles; ++number) {
      const std::string content = Content(number);
      const auto added =
          (*writer)->AddFile(std::to_string(number), {.mode = 0644}, {}, std::as_bytes(std::span(content)));
      ASSERT_TRUE(added.ok());
    }
    ASSERT_TRUE((*writer)->Commit().ok());
    auto store = Store::Open(store_path(), {});
    ASSERT_TRUE(store.ok()) << store.status().text();
    store_ = *store;
    for (uint64_t number = 0; number < kFiles; ++number) {
      const auto entry = store_->Find(std::to_string(number));
      ASSERT_TRUE(entry.ok());
      for (uint64_t block = 0; block < Store::BlockCount(*entry); ++block) {
        all_.push_back({.file = *entry, .block = block});
      }
    }
    Open();
  }

  void TearDown() override { Close(); }

  // A run of a daemon.
  void Open() {
    auto engine = MakeReadEngine(EngineKind::kPread, 4);
    ASSERT_TRUE(engine.ok());
    engine_ = *std::move(engine);
    auto copy = DiskCopy::Open({.folder = copy_path(),
                                .bytes_max = uint64_t{64} << 20,
                                .index_bytes_max = UINT64_MAX,
                                .writing_bytes_max = uint64_t{64} << 20},
                               store_, statistics_, notes_);
    ASSERT_TRUE(copy.ok()) << copy.status().text();
    ASSERT_EQ(notes_.size(), 0U) << notes_[0];
    copy_ = *std::move(copy);
    ASSERT_TRUE(copy_->Start().ok());
    auto server = std::make_unique<MemoryServer>(testing::ReadFile(store_path() + "/shard-00000001-00000"));
    server_ = server.get();
    shards_ = std::make_unique<CopiedShards>(*copy_, *engine_, std::move(server));
  }
  void Close() {
    if (shards_) shards_->Drain();
    engine_.reset();
    shards_.reset();
    copy_.reset();
  }

  // Reads from the first to the last of these blocks, and says whether all of them have the right bytes.
  bool ReadRight(const std::vector<WantedBlock>& blocks, bool again = false) {
    const uint64_t begin = blocks.front().file.offset + blocks.front().block * kBlockBytes;
    const uint64_t end = blocks.back().file.offset + blocks.back().block * kBlockBytes +
                         Store::BlockBytes(blocks.back().file, blocks.back().block);
    const AlignedMemory memory =
        AllocateAligned(ShardSource::kMargin, UpToDiskCachePage(ShardSource::RoomFor(end - begin)));
    std::promise<ShardReadResult> ended;
    shards_->Read({.shard = 0,
                   .offset = begin,
                   .bytes = end - begin,
                   .blocks = blocks,
                   .memory = memory.get(),
                   .again = again,
                   .done = [&](const ShardReadResult& read) { ended.set_value(read); }});
    const ShardReadResult read = ended.get_future().get();
    if (!read.status.ok()) return false;
    return std::ranges::all_of(blocks, [&](const WantedBlock& wanted) {
      const std::byte* at = memory.get() + read.skip + (wanted.file.offset + wanted.block * kBlockBytes - begin);
      return store_->CheckIdentity(wanted.file, wanted.block, {at, Store::BlockBytes(wanted.file, wanted.block)}).ok();
    });
  }

  bool WaitFor(uint64_t blocks) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (copy_->counters().files != blocks) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  MemoryServer::Asked RangeOf(const WantedBlock& wanted) const {
    return {wanted.file.offset + wanted.block * kBlockBytes, Store::BlockBytes(wanted.file, wanted.block)};
  }

  std::string store_path() const { return folder_.path() + "/store"; }
  std::string copy_path() const { return folder_.path() + "/copy"; }

  testing::TempFolder folder_;
  Statistics statistics_;
  std::vector<std::string> notes_;
  std::shared_ptr<const Store> store_;
  std::vector<WantedBlock> all_;  // by offset
  std::unique_ptr<ReadEngine> engine_;
  std::unique_ptr<DiskCopy> copy_;
  std::unique_ptr<CopiedShards> shards_;
  MemoryServer* server_ = nullptr;
};

// Promise: a second run asks the server for nothing that is there.
TEST_F(CopiedShardsTest, ALaterRunAsksForNothing) {
  ASSERT_TRUE(ReadRight(all_));
  EXPECT_EQ(server_->asked.size(), 1U);
  ASSERT_TRUE(WaitFor(all_.size()));
  Close();
  Open();
  server_->down = true;
  EXPECT_TRUE(ReadRight(all_));
  for (const WantedBlock& wanted : all_) EXPECT_TRUE(ReadRight({wanted}));
  EXPECT_TRUE(server_->asked.empty());
  EXPECT_EQ(statistics_.Get(Stat::kDiskCacheHits), 2 * all_.size());
}

TEST_F(CopiedShardsTest, TheShortestRangeWithAllThatIsMissingIsAskedFor) {
  const std::vector<WantedBlock> ends = {all_[0], all_[1], all_.back()};
  for (const WantedBlock& wanted : ends) ASSERT_TRUE(ReadRight({wanted}));
  ASSERT_TRUE(WaitFor(ends.size()));
  server_->asked.clear();
  EXPECT_TRUE(ReadRight(all_));
  const MemoryServer::Asked first = RangeOf(all_[2]);
  const MemoryServer::Asked last = RangeOf(all_[all_.size() - 2]);
  EXPECT_EQ(server_->asked,
            std::vector<MemoryServer::Asked>({{first.offset, last.offset + last.bytes - first.offset}}));
  EXPECT_TRUE(WaitFor(all_.size()));
}

TEST_F(CopiedShardsTest, WrongBytesOfTheServerAreNotKept) {
  server_->wrong = true;
  EXPECT_FALSE(ReadRight({all_[0]}));
  server_->wrong = false;
  EXPECT_TRUE(ReadRight({all_[1]}));
  ASSERT_TRUE(WaitFor(1));  // what came later is there, so the first was refused
  EXPECT_TRUE(ReadRight({all_[0]}, /*again=*/true));
  ASSERT_TRUE(WaitFor(2));
}

// Bytes that are wrong for the reader are not read from the copy a second time.
TEST_F(CopiedShardsTest, ASecondAttemptAsksTheServer) {
  ASSERT_TRUE(ReadRight({all_[0]}));
  ASSERT_TRUE(WaitFor(1));
  server_->asked.clear();
  EXPECT_TRUE(ReadRight({all_[0]}, /*again=*/true));
  EXPECT_EQ(server_->asked.size(), 1U);
}

TEST_F(CopiedShardsTest, ADamagedBlockIsAskedFor) {
  ASSERT_TRUE(ReadRight(all_));
  ASSERT_TRUE(WaitFor(all_.size()));
  Close();
  size_t damaged = 0;
  for (const auto& file : std::filesystem::directory_iterator(copy_path())) {
    std::string segment = testing::ReadFile(file.path());
    const size_t at = segment.find(Content(3));
    if (at == std::string::npos) continue;
    segment[at + 100] ^= 1;
    ++damaged;
    testing::WriteFile(file.path(), segment);
  }
  ASSERT_EQ(damaged, 1U);
  Open();
  EXPECT_TRUE(ReadRight(all_));
  EXPECT_EQ(server_->asked, std::vector<MemoryServer::Asked>({RangeOf(all_[3])}));
  ASSERT_TRUE(WaitFor(all_.size()));  // made anew
  server_->asked.clear();
  EXPECT_TRUE(ReadRight(all_));
  EXPECT_TRUE(server_->asked.empty());
}

TEST_F(CopiedShardsTest, AFailureOfTheServerIsOneOfTheRead) {
  server_->down = true;
  EXPECT_FALSE(ReadRight(all_));
  server_->down = false;
  EXPECT_TRUE(ReadRight(all_));
}

}  // namespace
}  // namespace augur
