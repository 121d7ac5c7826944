// SPDX-License-Identifier: Apache-2.0
#include "store/local_shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "unit/fs/store_fixture.h"

namespace augur {
namespace {

class LocalShardsTest : public StoreFixture {
 protected:
  void SetUp() override {
    bytes_ = RandomBytes(3'000'000, 1);
    Write([&](StoreWriter& writer) { ASSERT_TRUE(writer.AddFile("large", {.mode = 0644}, {}, AsBytes(bytes_)).ok()); });
    Open();
    const auto entry = store_->Find("large");
    ASSERT_TRUE(entry.ok());
    large_ = *entry;
  }

  // A part of the record, and what was said of it.
  std::pair<std::string, ShardReadResult> ReadNow(uint64_t offset, uint64_t bytes) {
    return ReadFrom(*shards_, offset, bytes);
  }
  std::pair<std::string, ShardReadResult> ReadFrom(ShardSource& shards, uint64_t offset, uint64_t bytes) const {
    const std::unique_ptr<std::byte, decltype(&std::free)> memory(
        static_cast<std::byte*>(std::aligned_alloc(ShardSource::kMargin, UpToMargin(ShardSource::RoomFor(bytes)))),
        &std::free);
    std::promise<ShardReadResult> ended;
    shards.Read({.shard = large_.shard,
                 .offset = large_.offset + offset,
                 .bytes = bytes,
                 .memory = memory.get(),
                 .done = [&](const ShardReadResult& read) { ended.set_value(read); }});
    const ShardReadResult read = ended.get_future().get();
    if (!read.status.ok()) return {"", read};
    return {std::string(reinterpret_cast<const char*>(memory.get()) + read.skip, bytes), read};
  }

  static uint64_t UpToMargin(uint64_t bytes) {
    return (bytes + ShardSource::kMargin - 1) / ShardSource::kMargin * ShardSource::kMargin;
  }

  std::string bytes_;
  Entry large_;
};

TEST_F(LocalShardsTest, ReadsAnyRange) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100; ++i) {
    const uint64_t offset = random() % bytes_.size();
    const uint64_t bytes = 1 + random() % std::min<uint64_t>(100'000, bytes_.size() - offset);
    const auto [text, read] = ReadNow(offset, bytes);
    ASSERT_TRUE(read.status.ok()) << read.status.text();
    ASSERT_TRUE(text == bytes_.substr(offset, bytes)) << offset << "+" << bytes;
    EXPECT_LT(read.skip, ShardSource::kMargin);
    EXPECT_EQ(read.reads, 1U);
    EXPECT_GE(read.read_bytes, bytes);
  }
}

TEST_F(LocalShardsTest, AShardThatEndsTooSoonNamesThePlace) {
  const auto shard = store_->OpenShard(large_.shard);
  ASSERT_TRUE(shard.ok());
  std::filesystem::resize_file((*shard)->path(), large_.offset + 1'000'000);
  EXPECT_TRUE(ReadNow(0, 900'000).second.status.ok());
  const ShardReadResult read = ReadNow(900'000, 200'000).second;
  EXPECT_EQ(read.status.code(), Code::kCorrupt);
  EXPECT_TRUE(read.retryable) << "a smaller part of it is there";
  EXPECT_NE(read.status.text().find((*shard)->path()), std::string::npos) << read.status.text();
  EXPECT_NE(read.status.text().find(std::to_string(large_.offset + 900'000)), std::string::npos) << read.status.text();
}

TEST_F(LocalShardsTest, AMissingShardIsNotTriedAgain) {
  std::string path;
  {
    const auto shard = store_->OpenShard(large_.shard);
    ASSERT_TRUE(shard.ok());
    path = (*shard)->path();
  }
  fs_.reset();
  std::filesystem::remove(path);
  Open();
  const ShardReadResult read = ReadNow(0, 1'000).second;
  EXPECT_EQ(read.status.code(), Code::kCorrupt);
  EXPECT_FALSE(read.retryable);
  EXPECT_EQ(read.reads, 0U);
  EXPECT_NE(read.status.text().find(path), std::string::npos) << read.status.text();
}

// An engine for a file system that loses its handles.
class LosingEngine final : public ReadEngine {
 public:
  explicit LosingEngine(std::unique_ptr<ReadEngine> base) : base_(std::move(base)) {}

  void Submit(ReadRequest request) override {
    if (IsLost(request.fd)) return request.done(-ESTALE);
    base_->Submit(std::move(request));
  }
  std::string Description() const override { return base_->Description(); }

  void Lose(int fd) {
    const MutexLock lock(mu_);
    lost_.insert(fd);
  }

 private:
  bool IsLost(int fd) {
    const MutexLock lock(mu_);
    return lost_.contains(fd);
  }

  const std::unique_ptr<ReadEngine> base_;
  Mutex mu_;
  std::set<int> lost_ AUGUR_GUARDED_BY(mu_);
};

class LostShardTest : public LocalShardsTest {
 protected:
  void SetUp() override {
    LocalShardsTest::SetUp();
    auto base = MakeReadEngine(EngineKind::kPread, 8);
    ASSERT_TRUE(base.ok());
    losing_ = std::make_unique<LosingEngine>(*std::move(base));
    source_ = std::make_unique<LocalShards>(store_, files(), *losing_);
    ASSERT_TRUE(ReadNow(0, 1000).second.status.ok());
    first_ = files().OpenedShard(large_.shard);
    ASSERT_NE(first_, nullptr);
    losing_->Lose(first_->fd());
  }
  void TearDown() override {
    source_.reset();
    losing_.reset();
    LocalShardsTest::TearDown();
  }

  const LocalFiles& files() const { return dynamic_cast<const LocalFiles&>(store_->files()); }

  std::pair<std::string, ShardReadResult> ReadNow(uint64_t offset, uint64_t bytes) {
    return ReadFrom(*source_, offset, bytes);
  }

  std::unique_ptr<LosingEngine> losing_;
  std::unique_ptr<LocalShards> source_;
  std::shared_ptr<const LocalFile> first_;
};

TEST_F(LostShardTest, IsOpenedAnewOnceForAllReaders) {
  std::vector<std::thread> readers;
  std::atomic<int> right = 0;
  for (uint64_t i = 0; i < 8; ++i) {
    readers.emplace_back([&, i] { right += ReadNow(i * 1000, 5000).first == bytes_.substr(i * 1000, 5000) ? 1 : 0; });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(right, 8);
  const auto second = files().OpenedShard(large_.shard);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first_);
  // Not again for those who come later.
  EXPECT_TRUE(ReadNow(77, 10).second.status.ok());
  EXPECT_EQ(files().OpenedShard(large_.shard), second);
}

TEST_F(LostShardTest, ThatIsGoneIsAnErrorWithBothCauses) {
  std::filesystem::rename(first_->path(), first_->path() + ".kept");
  const ShardReadResult read = ReadNow(0, 1000).second;
  EXPECT_EQ(read.status.code(), Code::kIo);
  EXPECT_FALSE(read.retryable);
  EXPECT_THAT(read.status.text(), testing::HasSubstr("Stale file handle, and it cannot be opened anew: " +
                                                     first_->path() + ": the shard is missing"));
  std::filesystem::rename(first_->path() + ".kept", first_->path());
  EXPECT_TRUE(ReadNow(0, 1000).second.status.ok());
}

}  // namespace
}  // namespace augur
