// SPDX-License-Identifier: Apache-2.0
#include "unit/io/hostile_engine.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <thread>
#include <vector>

#include "unit/prefetch_engine/engine_fixture.h"

namespace augur {
namespace {

// A disk that fails reads of more than some bytes, and gives a wrong bit in the first byte of each read that it makes.
class WrongFirstByte final : public ReadEngine {
 public:
  static constexpr uint64_t kReadMax = 64 << 10;

  explicit WrongFirstByte(std::unique_ptr<ReadEngine> base) : base_(std::move(base)) {}
  std::string Description() const override { return "wrong first byte"; }

  void Submit(ReadRequest request) override {
    request.done = [data = request.data, bytes = request.bytes, done = std::move(request.done)](int64_t result) {
      if (bytes > kReadMax) return done(-EIO);
      data[0] ^= std::byte{1};
      done(result);
    };
    base_->Submit(std::move(request));
  }

 private:
  const std::unique_ptr<ReadEngine> base_;
};

class HostileTest : public PrefetchEngineTest {
 protected:
  // Reads all files of an order, as a reader does. Each is right, or fails; returns how many were right.
  size_t ReadAll(const Order& order) {
    size_t right = 0;
    for (const EntryNumber file : order) {
      mount_->LookUp(file);
      prefetcher_->OnOpened(0, std::vector<EntryNumber>{file});
      if (const std::optional<std::string> pages = mount_->Pages(file)) {
        // Pushed piece by piece, each of which is right.
        EXPECT_TRUE(Content(file).starts_with(*pages)) << "pages of file " << file;
        right += pages->size() == Content(file).size() ? 1 : 0;
        continue;
      }
      const Result<std::string> bytes = ReadThrough(file);
      EXPECT_TRUE(!bytes.ok() || *bytes == Content(file)) << "file " << file;
      right += bytes.ok() ? 1 : 0;
    }
    return right;
  }
};

// R1. The one read of a chunk fails, and each file is read by itself. The sector that a file begins in has the end of
// the file before it, which was checked and handed out: what comes with the second read of that sector is not for it.
TEST_F(HostileTest, WhatWasHandedOutStaysAsItIs) {
  disk_ = [](std::unique_ptr<ReadEngine> base) { return std::make_unique<WrongFirstByte>(std::move(base)); };
  WriteFiles(400, 20'000);
  StartEngine({.chunk_bytes = 8 << 20});
  ASSERT_TRUE(prefetcher_->AddOrder(files_, kBehind).ok());
  // What begins in the middle of a sector, of 512 bytes or more, is right: the first byte of that is another's.
  size_t in_the_middle = 0;
  for (const EntryNumber file : files_) in_the_middle += OffsetOf(file) % 512 != 0 ? 1 : 0;
  ASSERT_GT(in_the_middle, files_.size() / 2);
  (void)ReadAll(files_);  // a reader may join a read ahead that fails; the second time each file is read for itself
  EXPECT_GE(ReadAll(files_), in_the_middle);
  EXPECT_GT(Count(Stat::kDiskReads), 0U);
  EXPECT_LE(Count(Stat::kDiskErrors), files_.size()) << DescribeState();
}

// One record that two files have, and records of several blocks, one read after the other.
TEST_F(HostileTest, SharedAndLargeRecordsAreRetried) {
  disk_ = [](std::unique_ptr<ReadEngine> base) {
    return std::make_unique<HostileEngine>(std::move(base),
                                           Hostility{.seed = 3, .large_bytes = (1 << 20) + (256 << 10)});
  };
  by_name_ = {{"100", RandomBytes(70'000, 1)},
              {"101", RandomBytes(kBlockBytes + 5, 2)},
              {"102", RandomBytes(70'000, 1)},
              {"103", RandomBytes(100'001, 3)},
              {"104", RandomBytes(100'003, 4)}};
  Write([&](StoreWriter& writer) {
    for (const auto& [name, bytes] : by_name_)
      ASSERT_TRUE(writer.AddFile(name, {.mode = 0644}, {}, AsBytes(bytes)).ok());
  });
  StartEngine({.chunk_bytes = 16 << 20, .push_window_bytes = 16 << 20});
  ASSERT_EQ(OffsetOf(files_[0]), OffsetOf(files_[2])) << "a record is stored once";
  ASSERT_TRUE(prefetcher_->AddOrder(files_, kBehind).ok());
  EXPECT_TRUE(Follow(files_, 2)) << "no file fails by itself";
  EXPECT_EQ(Count(Stat::kCorruptBlocks), 0U);
  EXPECT_EQ(Count(Stat::kDiskErrors), 0U);
}

struct Case {
  const char* name;
  Hostility hostility;
  uint64_t retained_bytes;
  size_t file_bytes_max;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class HostileDiskTest : public HostileTest, public ::testing::WithParamInterface<Case> {
 protected:
  // Of one disk; those of several seeds together.
  struct Tally {
    HostileEngine::Counts disk;
    size_t right = 0;
    size_t failed = 0;
  };

  // Whatever the disk does, each byte that a reader or the page cache gets is the file's, or the read fails; and once
  // the disk is good again, everything can be read.
  void Live(uint64_t seed, Tally& tally) {
    SCOPED_TRACE("AUGUR_SEED=" + std::to_string(seed));
    Hostility hostility = GetParam().hostility;
    hostility.seed = seed;
    std::vector<HostileEngine*> disks;
    disk_ = [&](std::unique_ptr<ReadEngine> base) {
      auto disk = std::make_unique<HostileEngine>(std::move(base), hostility);
      disks.push_back(disk.get());
      return disk;
    };
    StartEngine({.push_window_bytes = 1 << 20, .retained_bytes = GetParam().retained_bytes});
    for (uint64_t epoch = 0; epoch < 2; ++epoch) {
      EmptyCache();
      const Order order = epoch == 0 ? files_ : Shuffled(seed);  // neighbours in one read, then each by itself
      ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
      std::vector<std::thread> others;
      std::atomic<int> wrong = 0;
      for (uint64_t thread = 0; thread < 3; ++thread) {
        others.emplace_back([&, thread] {
          std::mt19937_64 random(seed * 10 + thread);
          for (int i = 0; i < 150; ++i) {
            const EntryNumber file = order[random() % order.size()];
            const std::string& content = Content(file);
            const uint64_t offset = random() % content.size();
            const size_t bytes = 1 + random() % (128 << 10);
            const auto read = ReadNow(Node{.view = 0, .entry = file}.id(), offset, bytes);
            if (read.ok() && *read != content.substr(offset, bytes)) ++wrong;
          }
        });
      }
      const size_t right = ReadAll(order);
      for (std::thread& thread : others) thread.join();
      EXPECT_EQ(wrong, 0);
      tally.right += right;
      tally.failed += order.size() - right;
    }
    for (HostileEngine* const disk : disks) {
      const HostileEngine::Counts counts = disk->counts();
      tally.disk.reads += counts.reads;
      tally.disk.failed += counts.failed;
      tally.disk.cut += counts.cut;
      tally.disk.flipped += counts.flipped;
      disk->BeGood();
    }
    EmptyCache();
    for (const EntryNumber file : files_) {
      // A READ may join a read that has failed already.
      Result<std::string> bytes = ReadThrough(file);
      if (!bytes.ok()) bytes = ReadThrough(file);
      EXPECT_TRUE(bytes.ok() && *bytes == Content(file)) << bytes.status().text();
    }
    StopEngine();
    files_.clear();
    content_.clear();
  }
};

TEST_P(HostileDiskTest, EachByteIsRightOrTheReadFails) {
  WriteFiles(150, GetParam().file_bytes_max);
  const char* const chosen = std::getenv("AUGUR_SEED");
  const uint64_t first = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
  const uint64_t seeds = chosen != nullptr ? 1 : 5;
  Tally tally;
  for (uint64_t seed = first; seed < first + seeds; ++seed) Live(seed, tally);
  // The disk was as bad as it should be, and not so bad that nothing came.
  const Hostility& asked = GetParam().hostility;
  EXPECT_EQ(tally.disk.failed > 0, asked.eio > 0 || asked.large_bytes < UINT64_MAX);
  EXPECT_EQ(tally.disk.cut > 0, asked.cut > 0);
  EXPECT_EQ(tally.disk.flipped > 0, asked.flip > 0 || asked.flip_again > 0);
  EXPECT_GT(tally.right, tally.failed);
  EXPECT_GT(tally.failed + Count(Stat::kDiskErrors) + Count(Stat::kCorruptBlocks), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Disks, HostileDiskTest,
    ::testing::Values(
        Case{"LargeReadsFail", {.large_bytes = 64 << 10, .flip_again = 0.3}, 0, 30'000},
        Case{"LargeReadsFailAndAreKept", {.large_bytes = 64 << 10, .flip_again = 0.3}, 4 << 20, 30'000},
        Case{"OtherBytesAgain", {.eio = 0.2, .flip_again = 0.3}, 0, 30'000},
        Case{"Short", {.cut = 0.3, .late_max = std::chrono::microseconds(500)}, 4 << 20, 30'000},
        Case{"Flips", {.flip = 0.2, .late_max = std::chrono::microseconds(500)}, 0, 30'000},
        Case{"AllAtOnce",
             {.eio = 0.1, .cut = 0.1, .flip = 0.1, .flip_again = 0.1, .late_max = std::chrono::microseconds(500)},
             4 << 20,
             30'000},
        Case{"LargeFiles",
             {.eio = 0.1, .cut = 0.05, .flip = 0.05, .late_max = std::chrono::microseconds(500)},
             4 << 20,
             600'000}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace augur
