// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cache/retained_cache.h"
#include "fs/node.h"
#include "prefetch/prefetcher.h"
#include "unit/fs/store_fixture.h"
#include "unit/prefetch_engine/fake_mount.h"
#include "unit/prefetch_engine/faulty_engine.h"

namespace augur {

// A store, and everything that the daemon has between its disk and the kernel, with a fake kernel.
class PrefetchEngineTest : public StoreFixture {
 protected:
  static constexpr PrefetchControl::Place kBehind = PrefetchControl::Place::kBehind;
  static constexpr PrefetchControl::Place kInstead = PrefetchControl::Place::kInstead;
  static constexpr uint32_t kOwnProcess = 4711;
  static constexpr uint32_t kReader = 4712;

  struct Parts {
    uint64_t chunk_bytes = 4 << 20;
    uint64_t push_window_bytes = 4 << 20;
    uint64_t retained_bytes = 0;  // 0: no retained cache
    uint64_t order_bytes = 4 << 20;
    uint64_t reusable_bytes = 0;  // that the page cache has room for
    bool retains_read = false;
    FakeMount::See see = FakeMount::See::kOpens;
    bool opens_asked = false;
    Prefetcher::AccessListener listener = {};
    ViewSource* views = nullptr;
    bool sink = true;
    uint64_t accesses_max = PrefetcherOptions().accesses_max;
    bool start = true;  // the planning thread
    // Puts something between the prefetch and the shards.
    std::function<std::unique_ptr<ShardSource>(std::unique_ptr<ShardSource>)> wrap_ahead = {};
  };

  // A store of `count` files of 1 to `bytes_max` bytes, which lie on the disk in the order of their names.
  void WriteFiles(size_t count, size_t bytes_max, const WriterOptions& options = {}) {
    std::mt19937_64 random(count);
    auto writer = StoreWriter::Begin(store_path(), options);
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    for (size_t i = 0; i < count; ++i) {
      const std::string name = std::to_string(100'000 + i);
      by_name_[name] = RandomBytes(1 + random() % bytes_max, i);
      ASSERT_TRUE((*writer)->AddFile(name, {.mode = 0644}, {}, AsBytes(by_name_[name])).ok());
    }
    ASSERT_TRUE((*writer)->Commit().ok());
  }

  void StartEngine(const Parts& parts) {
    auto store = Store::Open(store_path(), {.direct = true});
    ASSERT_TRUE(store.ok()) << store.status().text();
    store_ = *store;
    for (const auto& [name, bytes] : by_name_) {
      const auto entry = store_->Find(name);
      ASSERT_TRUE(entry.ok()) << entry.status().text();
      const auto file = static_cast<EntryNumber>(entry->number);
      files_.push_back(file);
      content_[file] = bytes;
    }
    demand_ = MakeEngine();
    ahead_ = MakeEngine();
    demand_shards_ = store_->files().MakeSource(store_, *demand_, ReadPurpose::kDemand, StoreFiles::NothingBefore);
    ahead_shards_ = store_->files().MakeSource(store_, *ahead_, ReadPurpose::kAhead, StoreFiles::NothingBefore);
    if (parts.wrap_ahead) ahead_shards_ = parts.wrap_ahead(std::move(ahead_shards_));
    if (parts.retained_bytes > 0) {
      std::vector<std::string> notes;
      auto retained_cache = RetainedCache::Open({.place = RetainedCache::Place::kRam,
                                                 .folder = "",
                                                 .identity = store_path(),
                                                 .store_path = "",
                                                 .bytes_max = parts.retained_bytes,
                                                 .group = {},
                                                 .on_lost = {},
                                                 .memory_available = [] { return uint64_t{1} << 40; }},
                                                notes);
      ASSERT_TRUE(retained_cache.ok()) << retained_cache.status().text();
      retained_cache_ = std::move(retained_cache).value();
      retained_ = std::make_unique<RetainedBlocks>(*store_, *retained_cache_);
    }
    prefetcher_ = std::make_unique<Prefetcher>(
        store_, *ahead_shards_, cache_, retained_.get(), statistics_,
        PrefetcherOptions{.retained_bytes_max = parts.retained_bytes,
                          .chunk_bytes = parts.chunk_bytes,
                          .push_window_bytes_max = parts.push_window_bytes,
                          .order_bytes_max = parts.order_bytes,
                          .reusable_bytes_max = [left = parts.reusable_bytes] { return left; },
                          .page_cache_drops = {},
                          .retains_read = parts.retains_read,
                          .opens_asked = parts.opens_asked,
                          .own_process = kOwnProcess,
                          .reads_max = 8,
                          .push_threads = 1,
                          .accesses_max = parts.accesses_max});
    fs_ = std::make_unique<FileSystem>(
        store_, *demand_shards_, cache_, statistics_,
        FileSystemOptions{.uid = 0, .gid = 0, .umask = 0, .retained = retained_.get(), .observer = prefetcher_.get()});
    mount_ = std::make_unique<FakeMount>(parts.see);
    opens_asked_ = parts.opens_asked;
    prefetcher_->SetAccessListener(parts.listener);
    if (!parts.start) return;
    ASSERT_TRUE(prefetcher_->Start(parts.sink ? mount_.get() : nullptr, mount_.get(), parts.views).ok());
  }

  // The daemon's end, in its order; then nothing may be under way.
  void StopEngine() {
    if (!prefetcher_) return;
    // Where a test has failed.
    mount_->Release();
    ahead_->Release();
    prefetcher_->Stop();
    demand_shards_->Drain();
    demand_.reset();  // waits for every read
    fs_.reset();
    ahead_.reset();
    mount_.reset();
    const StatisticsSnapshot end = statistics_.Snapshot();
    EXPECT_EQ(end[Gauge::kReadsInFlight], 0U);
    EXPECT_EQ(end[Gauge::kPushesWaiting], 0U);
    EXPECT_EQ(cache_.busy_blocks(), 0U);
    prefetcher_.reset();  // checks that no chunk is in use
    retained_cache_.reset();
  }

  void TearDown() override { StopEngine(); }

  // A shuffled epoch of all files.
  Order Shuffled(uint64_t seed) const {
    Order order = files_;
    std::mt19937_64 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    return order;
  }

  // Epochs in which no file is read soon after it was read in the epoch before.
  Order ShuffledHalves(uint64_t seed) const {
    Order order = files_;
    std::mt19937_64 random(seed);
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
    std::shuffle(order.begin(), middle, random);
    std::shuffle(middle, order.end(), random);
    return order;
  }

  const std::string& Content(EntryNumber file) const { return content_.at(file); }
  bool WaitPushed(EntryNumber file) const { return mount_->WaitFor(file, Content(file).size()); }
  // Where the file's record begins in its shard.
  uint64_t OffsetOf(EntryNumber file) const { return store_->Get(file)->offset; }
  // The reads of this engine that covered the file's record.
  uint64_t ReadsOf(const FaultyEngine& engine, EntryNumber file) const {
    return engine.ReadsOf(OffsetOf(file), OffsetOf(file) + Content(file).size());
  }
  // Waits until a held one does.
  bool WaitUntilHeld(const FaultyEngine& engine, EntryNumber file) const {
    return engine.WaitUntilHeld(OffsetOf(file), OffsetOf(file) + Content(file).size());
  }

  // A READ of the whole file, as the kernel makes them, past its page cache.
  Result<std::string> ReadThrough(EntryNumber file) {
    std::string bytes;
    const NodeId node = Node{.view = 0, .entry = file}.id();
    while (bytes.size() < Content(file).size()) {
      auto piece = ReadNow(node, bytes.size(), 128 << 10);
      if (!piece.ok()) return piece.status();
      bytes += *piece;
    }
    return bytes;
  }

  // Opens and reads a file as a reader does; the bytes must be right. Whether they were in the page cache.
  bool ReadAsReader(EntryNumber file) {
    mount_->LookUp(file);
    const std::vector<EntryNumber> opened = {file};
    if (opens_asked_) fs_->Opened(Node{.view = 0, .entry = file}.id(), kReader);
    if (mount_->usable() && mount_->watching()) prefetcher_->OnOpened(0, opened);
    const std::optional<std::string> pages = mount_->Pages(file);
    if (pages && pages->size() == Content(file).size()) {
      EXPECT_TRUE(*pages == Content(file)) << "file " << file;
      return true;
    }
    ++reads_;
    const Result<std::string> bytes = ReadThrough(file);
    EXPECT_TRUE(bytes.ok()) << bytes.status().text();
    if (!bytes.ok()) return false;
    EXPECT_TRUE(*bytes == Content(file)) << "file " << file;
    mount_->Brought(file, *bytes);
    return false;
  }

  // Reads the files of an order one after the other, each when the file `ahead` places further is in the page cache
  // (what is about to be read is not pushed any more, so nobody can wait for that). False: one did not come in time.
  // Those of the first `ahead` that were not there are READs and right; all others must have been there. Rests before
  // each file.
  bool Follow(const Order& order, size_t ahead = 40, std::chrono::milliseconds rest = {}) {
    for (size_t i = 0; i < order.size(); ++i) {
      if (rest.count() > 0) std::this_thread::sleep_for(rest);
      if (i + ahead < order.size() && !WaitPushed(order[i + ahead])) {
        ADD_FAILURE() << "position " << i + ahead << " is not there: " << DescribeState();
        return false;
      }
      EXPECT_TRUE(ReadAsReader(order[i]) || i < ahead) << "position " << i;
    }
    return true;
  }

  // Returns when the planning thread has decided upon all that has happened so far: it answers in order, and what was
  // asked second after what it decided upon the first. Where nothing is pushed or kept, there is nothing to drop.
  void LetDecide() {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(prefetcher_->Drop().push_window_bytes, 0U);
  }

  // Waits for something that another thread does.
  template <typename Condition>
  static bool WaitUntil(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  // What a failure needs to be understood.
  std::string DescribeState() const {
    const StatisticsSnapshot now = statistics_.Snapshot();
    std::string text;
    for (const StatDefinition& row : kStatDefinitions) {
      if (now[row.id] != 0) text += std::string(row.name) + " " + std::to_string(now[row.id]) + ", ";
    }
    for (const GaugeDefinition& row : kGaugeDefinitions) {
      if (now[row.id] != 0) text += std::string(row.name) + " " + std::to_string(now[row.id]) + ", ";
    }
    for (const auto& [name, value] : prefetcher_->Describe()) text += name + " " + value + ", ";
    return text;
  }

  uint64_t Count(Stat stat) const { return statistics_.Get(stat); }
  uint64_t GaugeNow(Gauge gauge) const { return statistics_.Snapshot()[gauge]; }
  uint64_t ContentBytes() const {
    return std::accumulate(content_.begin(), content_.end(), uint64_t{0},
                           [](uint64_t sum, const auto& one) { return sum + one.second.size(); });
  }

  std::map<std::string, std::string> by_name_;
  std::map<EntryNumber, std::string> content_;
  Order files_;         // in path order
  uint64_t reads_ = 0;  // READs of the reader
  bool opens_asked_ = false;
  // What is between the real engine and those below; empty: nothing.
  std::function<std::unique_ptr<ReadEngine>(std::unique_ptr<ReadEngine>)> disk_;
  std::unique_ptr<FaultyEngine> demand_;
  std::unique_ptr<FaultyEngine> ahead_;
  std::unique_ptr<ShardSource> demand_shards_;
  std::unique_ptr<ShardSource> ahead_shards_;
  std::unique_ptr<RetainedCache> retained_cache_;
  std::unique_ptr<RetainedBlocks> retained_;
  std::unique_ptr<Prefetcher> prefetcher_;
  std::unique_ptr<FakeMount> mount_;

 private:
  std::unique_ptr<FaultyEngine> MakeEngine() const {
    auto made = MakeReadEngine(EngineKind::kAuto, 16, 1);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::make_unique<FaultyEngine>(disk_ ? disk_(std::move(made).value()) : std::move(made).value());
  }
};

}  // namespace augur
