// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "unit/prefetch_engine/engine_fixture.h"

namespace augur {
namespace {

class PrefetchFaultTest : public PrefetchEngineTest {
 protected:
  // Changes a byte in the middle of the file's record.
  void Corrupt(EntryNumber file) {
    const auto entry = store_->Get(file);
    ASSERT_TRUE(entry.ok());
    const auto shard = store_->OpenShard(entry->shard);
    ASSERT_TRUE(shard.ok());
    const int fd = ::open((*shard)->path().c_str(), O_RDWR);
    ASSERT_GE(fd, 0);
    const char wrong = static_cast<char>(Content(file)[entry->size / 2] ^ 0x20);
    EXPECT_EQ(::pwrite(fd, &wrong, 1, static_cast<off_t>(entry->offset + entry->size / 2)), 1);
    ::close(fd);
  }
};

// A record with a wrong byte fails for its own reader; its neighbours in the same read do not, and the prefetch does
// not come back to it.
TEST_F(PrefetchFaultTest, CorruptRecordFailsAlone) {
  WriteFiles(200, 60'000);
  StartEngine({.push_window_bytes = 16 << 20});
  const EntryNumber bad = files_[100];
  Corrupt(bad);
  for (uint64_t epoch = 0; epoch < 2; ++epoch) {
    Order order = Shuffled(epoch);
    std::erase(order, bad);
    Order with = order;
    with.insert(with.begin() + 90, bad);
    ASSERT_TRUE(prefetcher_->AddOrder(with, kBehind).ok());
    ASSERT_TRUE(Follow(order, 20));
    EXPECT_FALSE(mount_->Pages(bad));
    EXPECT_EQ(ReadThrough(bad).status().code(), Code::kCorrupt);
  }
  // Found once by the prefetch, and by each of the two READs.
  EXPECT_EQ(Count(Stat::kCorruptBlocks), 3U);
}

// One of the reader's files is corrupt while he waits for the read ahead: he gets the failure, and nobody else.
TEST_F(PrefetchFaultTest, WhoJoinedACorruptRecordIsTold) {
  WriteFiles(30, 60'000);
  StartEngine({});
  Corrupt(files_[1]);
  ahead_->Hold();
  ASSERT_TRUE(prefetcher_->AddOrder(files_, kBehind).ok());
  ASSERT_TRUE(WaitUntilHeld(*ahead_, files_[1]));
  ASSERT_TRUE(WaitUntilHeld(*ahead_, files_[2]));
  std::thread wrong([&] { EXPECT_EQ(ReadThrough(files_[1]).status().code(), Code::kCorrupt); });
  std::thread right([&] {
    const Result<std::string> bytes = ReadThrough(files_[2]);
    EXPECT_TRUE(bytes.ok() && *bytes == Content(files_[2]));
  });
  EXPECT_TRUE(WaitUntil([&] { return Count(Stat::kRecordCacheJoins) == 2; })) << DescribeState();
  ahead_->Release();
  wrong.join();
  right.join();
  EXPECT_TRUE(demand_->seen().empty());
}

// A bad sector: the read of the whole fails, and each file is tried by itself.
TEST_F(PrefetchFaultTest, ChunkThatCannotBeReadIsReadFileByFile) {
  WriteFiles(100, 60'000);
  StartEngine({});
  const EntryNumber bad = *std::ranges::find_if(
      files_, [&](EntryNumber file) { return file >= files_[40] && Content(file).size() > 20'000; });
  // In the middle, so that aligned reads of its neighbours do not touch it.
  const uint64_t sector = (OffsetOf(bad) + Content(bad).size() / 2) / 4096 * 4096;
  ahead_->Damage(sector, sector + 512);
  ASSERT_TRUE(prefetcher_->AddOrder(files_, kBehind).ok());
  Order others = files_;
  std::erase(others, bad);
  ASSERT_TRUE(Follow(others, 20));
  EXPECT_FALSE(mount_->Pages(bad));
  EXPECT_FALSE(ReadAsReader(bad)) << "the other engine can read it";
  EXPECT_LE(ahead_->ReadsOf(sector, sector + 512), 2U) << "once with the others, once alone";
  EXPECT_EQ(Count(Stat::kCorruptBlocks), 0U);
}

// A disk, or a network, that fails for a while: what it did not bring is read ahead in the next epoch.
TEST_F(PrefetchFaultTest, WhatCouldNotBeReadComesInTheNextEpoch) {
  WriteFiles(100, 60'000);
  StartEngine({});
  const EntryNumber bad = *std::ranges::find_if(
      files_, [&](EntryNumber file) { return file >= files_[40] && Content(file).size() > 20'000; });
  const uint64_t sector = (OffsetOf(bad) + Content(bad).size() / 2) / 4096 * 4096;
  ahead_->Damage(sector, sector + 512);
  ASSERT_TRUE(prefetcher_->AddOrder(files_, kBehind).ok());
  // A reader who comes while it is tried would be told of the failure.
  const auto was_tried = [&] { return Count(Stat::kDiskErrors) == 1 && GaugeNow(Gauge::kReadsInFlight) == 0; };
  ASSERT_TRUE(WaitUntil(was_tried)) << DescribeState();
  for (const EntryNumber file : files_) ReadAsReader(file);
  EXPECT_EQ(Count(Stat::kDiskErrors), 1U) << "once in an epoch";
  prefetcher_->Drop();
  ASSERT_TRUE(WaitUntil([&] { return !mount_->Pages(bad); })) << DescribeState();
  ahead_->Repair();
  Order next = Shuffled(1);
  std::erase(next, bad);
  next.insert(next.begin() + 50, bad);
  ASSERT_TRUE(prefetcher_->AddOrder(next, kBehind).ok());
  ASSERT_TRUE(Follow(next, 20));
}

// The shard is shorter than the index says (it was cut off under us).
TEST_F(PrefetchFaultTest, ShortReads) {
  WriteFiles(60, 60'000);
  StartEngine({});
  ahead_->CutShort(1);  // nothing can be read as a whole, unless the sector goes on behind the record
  ASSERT_TRUE(prefetcher_->AddOrder(Shuffled(1), kBehind).ok());
  for (const EntryNumber file : Shuffled(1)) ReadAsReader(file);
  EXPECT_TRUE(WaitUntil([&] { return GaugeNow(Gauge::kOrdersQueued) == 0; }));
}

TEST_F(PrefetchFaultTest, MissingShard) {
  WriteFiles(120, 60'000, {.shard_bytes = 1 << 20});
  std::string missing;
  for (const auto& file : std::filesystem::recursive_directory_iterator(store_path())) {
    const std::string path = file.path();
    if (path.find("shard") != std::string::npos && file.is_regular_file() && (missing.empty() || path > missing)) {
      missing = path;
    }
  }
  ASSERT_NE(missing, "");
  std::filesystem::remove(missing);
  StartEngine({});
  std::set<EntryNumber> gone;
  for (const EntryNumber file : files_) {
    if (store_->Get(file)->shard + 1 == store_->summary().shard_count) gone.insert(file);
  }
  ASSERT_GT(gone.size(), 1U);
  ASSERT_LT(gone.size(), files_.size());
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  Order there = order;
  std::erase_if(there, [&](EntryNumber file) { return gone.contains(file); });
  ASSERT_TRUE(Follow(there, 20));
  for (const EntryNumber file : gone) EXPECT_EQ(ReadThrough(file).status().code(), Code::kCorrupt);
}

// The mount ends while files are pushed: nothing hangs, and READs that still come are answered.
TEST_F(PrefetchFaultTest, MountEnds) {
  WriteFiles(200, 60'000);
  StartEngine({.push_window_bytes = 2 << 20});
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  ASSERT_TRUE(WaitPushed(order[5])) << " " << DescribeState();
  mount_->End();
  for (const EntryNumber file : order) {
    const Result<std::string> bytes = ReadThrough(file);
    ASSERT_TRUE(bytes.ok() && *bytes == Content(file));
  }
}

// Opens are told no longer, because no more folders can be watched, or because the process that looks at the mount has
// died: what the kernel knows is still pushed, the rest is read by READs.
class PrefetchBlindTest : public PrefetchFaultTest, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(ProcessDies, PrefetchBlindTest, ::testing::Bool());

TEST_P(PrefetchBlindTest, GoesOn) {
  WriteFiles(400, 40'000);
  StartEngine({.push_window_bytes = 2 << 20});
  for (const EntryNumber file : files_) mount_->LookUp(file);
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  for (size_t i = 0; i < order.size(); ++i) {
    ASSERT_TRUE(i >= 50 || WaitPushed(order[i + 10])) << i << " " << DescribeState();
    if (i == 50 && GetParam()) mount_->EndView();
    if (i == 50) mount_->EndWatches();
    ReadAsReader(order[i]);
  }
  // And so is the next epoch: the READs of files left out on purpose tell where the reader is.
  const uint64_t pushes = Count(Stat::kPushes);
  const Order next = Shuffled(2);
  ASSERT_TRUE(prefetcher_->AddOrder(next, kBehind).ok());
  for (const EntryNumber file : next) ReadAsReader(file);
  EXPECT_TRUE(WaitUntil([&] { return Count(Stat::kPushes) > pushes; })) << DescribeState();
}

// A kernel that forgets inodes as soon as they were looked up takes no pages; nobody asks it again and again.
TEST_F(PrefetchFaultTest, FilesThatStayUnknown) {
  WriteFiles(150, 40'000);
  StartEngine({});
  mount_->KnowNothing();
  const Order order = Shuffled(1);
  ASSERT_TRUE(prefetcher_->AddOrder(order, kBehind).ok());
  for (const EntryNumber file : order) {
    // It comes ahead all the same, and serves the READ.
    ASSERT_TRUE(WaitUntil([&] { return ReadsOf(*ahead_, file) > 0; }));
    ReadAsReader(file);
  }
  EXPECT_EQ(reads_, order.size());
  // The last files of all are let go when the last of them is opened.
  EXPECT_LE(demand_->seen().size(), 4U) << DescribeState();
  EXPECT_EQ(Count(Stat::kPushes), 0U);
  EXPECT_LE(mount_->counts().unknown, 3 * order.size());
}

}  // namespace
}  // namespace augur
