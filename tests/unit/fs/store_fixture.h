// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "augur/store.h"
#include "augur/store_writer.h"
#include "cache/buffer_pool.h"
#include "cache/record_cache.h"
#include "control/statistics.h"
#include "fs/file_system.h"
#include "io/read_engine.h"
#include "store/store_files.h"

namespace augur {

// A folder under the system's temporary folder, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "augur-fs-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// `count` bytes that no compressor and no luck would repeat.
inline std::string RandomBytes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

inline std::span<const std::byte> AsBytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// A store with known files, opened as a FileSystem over a real engine, as the daemon does it.
class StoreFixture : public ::testing::Test {
 protected:
  static constexpr uint64_t kMemoryBytes = 16 << 20;

  // Makes the store from what `fill` adds.
  template <typename Fill>
  void Write(const Fill& fill) {
    auto writer = StoreWriter::Begin(store_path(), {});
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    fill(**writer);
    const auto summary = (*writer)->Commit();
    ASSERT_TRUE(summary.ok()) << summary.status().text();
  }

  // A decoded cache in `options` is read by the engine.
  void Open(std::unique_ptr<ReadEngine> engine = nullptr, FileSystemOptions options = {}) {
    auto store = Store::Open(store_path(), {.direct = true});
    ASSERT_TRUE(store.ok()) << store.status().text();
    store_ = *store;
    if (!engine) {
      auto made = MakeReadEngine(EngineKind::kAuto, 16);
      ASSERT_TRUE(made.ok()) << made.status().text();
      engine = std::move(made).value();
    }
    engine_ = std::move(engine);
    options.views.decoded.engine = engine_.get();
    shards_ = store_->files().MakeSource(store_, *engine_, ReadPurpose::kDemand, StoreFiles::NothingBefore);
    fs_ = std::make_unique<FileSystem>(store_, *shards_, cache_, statistics_, options);
  }

  void TearDown() override {
    if (shards_) shards_->Drain();
    engine_.reset();  // waits for every read
    fs_.reset();
  }

  NodeId NodeOf(const std::string& path) {
    NodeId node = kRootNode;
    for (const auto& part : std::filesystem::path(path)) {
      const auto attributes = fs_->Lookup(node, part.string());
      EXPECT_TRUE(attributes.ok()) << path << ": " << attributes.status().text();
      if (!attributes.ok()) return 0;
      node = attributes->node;
    }
    return node;
  }

  // The bytes of a read, waited for.
  Result<std::string> ReadNow(NodeId node, uint64_t offset, size_t bytes) {
    std::promise<Result<std::string>> promise;
    fs_->Read(node, offset, bytes, [&](Result<ReadReply> reply) {
      if (!reply.ok()) return promise.set_value(reply.status());
      std::string text;
      for (const auto piece : reply->pieces) text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      promise.set_value(std::move(text));
    });
    return promise.get_future().get();
  }

  // Lets go of all blocks that nobody uses, so that what is read comes from the disk.
  void EmptyCache() {
    cache_.Get(
        {.shard = kNoShard}, kMemoryBytes,
        [](Buffer, const RecordCache::Loaded& loaded) { loaded(Status(Code::kStopped, "it was only for the room")); },
        [](const Result<BlockRef>&) {});
  }

  std::string store_path() const { return folder_ / "store"; }

  TemporaryFolder folder_;
  BufferPool pool_{kMemoryBytes};
  RecordCache cache_{pool_};
  Statistics statistics_;
  std::shared_ptr<const Store> store_;
  std::unique_ptr<ReadEngine> engine_;
  std::unique_ptr<ShardSource> shards_;
  std::unique_ptr<FileSystem> fs_;
};

}  // namespace augur
