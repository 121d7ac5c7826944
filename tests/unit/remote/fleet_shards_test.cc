// SPDX-License-Identifier: Apache-2.0
// Blocks of records on memcached servers of a fleet, and what is still asked of the store's server.
#include "remote/fleet_shards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "augur/store_writer.h"
#include "base/aligned_memory.h"
#include "fleet/memcached_connection.h"
#include "remote/wanted_range.h"
#include "unit/fleet/memcached_server.h"
#include "unit/remote/memory_server.h"
#include "unit/store/test_store.h"

namespace augur {
namespace {

using testing::MemcachedServer;
using testing::MemoryServer;

class FleetShardsTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kFiles = 6;
  static constexpr uint64_t kLarge = 5;  // of four blocks, three of which are of 1 MiB; the others have one

  // A machine of the fleet.
  struct Machine {
    Statistics statistics;
    std::unique_ptr<FleetCopy> copy;
    MemoryServer* server = nullptr;
    std::unique_ptr<FleetShards> shards;
  };

  void SetUp() override {
    auto writer = StoreWriter::Begin(store_path(), {});
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    for (uint64_t number = 0; number < kFiles; ++number) {
      const std::string content =
          testing::Noise(number == kLarge ? 3 * kBlockBytes + 4097 : 5000 + number, static_cast<uint32_t>(number));
      ASSERT_TRUE(
          (*writer)->AddFile(std::to_string(number), {.mode = 0644}, {}, std::as_bytes(std::span(content))).ok());
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
    for (std::unique_ptr<Machine>& machine : machines_) machine = Join();
  }

  std::unique_ptr<Machine> Join() {
    auto machine = std::make_unique<Machine>();
    auto copy = FleetCopy::Open({.list = *FleetList::Parse(one_.address().text() + "_" + two_.address().text()),
                                 .waiting_bytes_max = uint64_t{64} << 20},
                                store_, machine->statistics);
    EXPECT_TRUE(copy.ok()) << copy.status().text();
    machine->copy = *std::move(copy);
    EXPECT_TRUE(machine->copy->Start().ok());
    auto server = std::make_unique<MemoryServer>(testing::ReadFile(store_path() + "/shard-00000001-00000"));
    machine->server = server.get();
    machine->shards = std::make_unique<FleetShards>(*machine->copy, ReadPurpose::kDemand, std::move(server));
    return machine;
  }
  Machine& first() { return *machines_[0]; }
  Machine& second() { return *machines_[1]; }

  // Reads from the first to the last of these blocks, and says whether all of them have the right bytes.
  bool ReadRight(Machine& machine, const std::vector<WantedBlock>& blocks, bool again = false, bool named = true) {
    const uint64_t begin = OffsetOf(blocks.front());
    const uint64_t end = OffsetOf(blocks.back()) + BytesOf(blocks.back());
    const AlignedMemory memory = AllocateAligned(ShardSource::kMargin, ShardSource::RoomFor(end - begin));
    std::promise<ShardReadResult> ended;
    machine.shards->Read({.shard = 0,
                          .offset = begin,
                          .bytes = end - begin,
                          .blocks = named ? std::span<const WantedBlock>(blocks) : std::span<const WantedBlock>(),
                          .memory = memory.get(),
                          .again = again,
                          .done = [&](const ShardReadResult& read) { ended.set_value(read); }});
    const ShardReadResult read = ended.get_future().get();
    machine.shards->Drain();
    return read.status.ok() && std::ranges::all_of(blocks, [&](const WantedBlock& wanted) {
             return store_
                 ->CheckIdentity(wanted.file, wanted.block,
                                 {memory.get() + read.skip + (OffsetOf(wanted) - begin), BytesOf(wanted)})
                 .ok();
           });
  }

  static bool WaitFor(const Machine& machine, Stat stat, uint64_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (machine.statistics.Get(stat) != count) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  static MemoryServer::Asked RangeOf(const WantedBlock& wanted) { return {OffsetOf(wanted), BytesOf(wanted)}; }
  std::string store_path() const { return folder_.path() + "/store"; }

  // Puts bytes under the block's key on the server that has it.
  void PutWrong(const WantedBlock& wanted, const std::string& bytes) {
    const FleetKey key = {.hash = *store_->BlockIdentity(wanted.file, wanted.block), .size = BytesOf(wanted)};
    size_t found = 0;
    for (const MemcachedServer* server : {&one_, &two_}) {
      MemcachedConnection connection(server->address());
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      bool there = false;
      ASSERT_TRUE(
          connection.Get({{key.text()}}, until, [&](size_t, std::span<const std::byte>) { there = true; }).ok());
      if (!there) continue;
      ++found;
      ASSERT_TRUE(connection.Set(key.text(), std::as_bytes(std::span(bytes)), until, {}).ok());
    }
    ASSERT_EQ(found, 1U);
  }

  MemcachedServer one_;
  MemcachedServer two_;
  testing::TempFolder folder_;
  std::shared_ptr<const Store> store_;
  std::vector<WantedBlock> all_;  // by offset
  std::array<std::unique_ptr<Machine>, 2> machines_;
};

TEST_F(FleetShardsTest, TheSecondMachineAsksForNothing) {
  ASSERT_TRUE(ReadRight(first(), all_));
  EXPECT_EQ(first().server->asked.size(), 1U);
  EXPECT_EQ(first().statistics.Get(Stat::kFleetMisses), all_.size());
  ASSERT_TRUE(WaitFor(first(), Stat::kFleetKept, all_.size()));
  second().server->down = true;
  EXPECT_TRUE(ReadRight(second(), all_));
  for (const WantedBlock& wanted : all_) EXPECT_TRUE(ReadRight(second(), {wanted}));
  EXPECT_TRUE(second().server->asked.empty());
  EXPECT_EQ(second().statistics.Get(Stat::kFleetHits), 2 * all_.size());
  EXPECT_EQ(second().statistics.Get(Stat::kFleetMisses), 0U);
}

// What another machine has given to the fleet is not asked for with its neighbours.
TEST_F(FleetShardsTest, OnlyWhatIsMissingIsAskedFor) {
  const std::vector<WantedBlock> there = {all_[1], all_[6]};  // of 5 KB and of 1 MiB
  for (const WantedBlock& wanted : there) ASSERT_TRUE(ReadRight(first(), {wanted}));
  ASSERT_TRUE(WaitFor(first(), Stat::kFleetKept, there.size()));
  EXPECT_TRUE(ReadRight(second(), all_));
  const auto from_to = [this](size_t from, size_t to) {
    return MemoryServer::Asked{OffsetOf(all_[from]), OffsetOf(all_[to]) + BytesOf(all_[to]) - OffsetOf(all_[from])};
  };
  EXPECT_EQ(second().server->asked,
            std::vector<MemoryServer::Asked>({from_to(0, 0), from_to(2, 5), from_to(7, all_.size() - 1)}));
  EXPECT_TRUE(WaitFor(second(), Stat::kFleetKept, all_.size() - there.size()));
}

// A gap of a fiftieth costs less than a request.
TEST_F(FleetShardsTest, SmallGapsAreReadAndLargeOnesAreNot) {
  ASSERT_TRUE(ReadRight(first(), {all_[3], all_[5]}));  // 5 KB between 5 KB and 1 MiB
  EXPECT_EQ(first().server->asked,
            std::vector<MemoryServer::Asked>(
                {{OffsetOf(all_[3]), OffsetOf(all_[5]) + BytesOf(all_[5]) - OffsetOf(all_[3])}}));
  first().server->asked.clear();
  ASSERT_TRUE(ReadRight(first(), {all_[0], all_[2]}));
  EXPECT_EQ(first().server->asked, std::vector<MemoryServer::Asked>({RangeOf(all_[0]), RangeOf(all_[2])}));
  EXPECT_TRUE(WaitFor(first(), Stat::kFleetKept, 4));  // and nothing of the gap
}

TEST_F(FleetShardsTest, WrongBytesOfTheFleetAreAMissAndAreReplaced) {
  ASSERT_TRUE(ReadRight(first(), all_));
  ASSERT_TRUE(WaitFor(first(), Stat::kFleetKept, all_.size()));
  const WantedBlock& wanted = all_[3];
  uint64_t wrong = 0;
  for (const std::string& bytes : {testing::Noise(BytesOf(wanted), 99), std::string(BytesOf(wanted) - 1, 'x'),
                                   std::string(), std::string(BytesOf(wanted) + 1, 'x')}) {
    PutWrong(wanted, bytes);
    second().server->asked.clear();
    EXPECT_TRUE(ReadRight(second(), all_));
    EXPECT_EQ(second().server->asked, std::vector<MemoryServer::Asked>({RangeOf(wanted)}));
    EXPECT_EQ(second().statistics.Get(Stat::kFleetWrong), ++wrong);
    ASSERT_TRUE(WaitFor(second(), Stat::kFleetKept, wrong));
    second().server->asked.clear();
    EXPECT_TRUE(ReadRight(second(), all_));
    EXPECT_TRUE(second().server->asked.empty());
  }
}

TEST_F(FleetShardsTest, WrongBytesOfTheStoresServerAreNotGivenAway) {
  first().server->wrong = true;
  EXPECT_FALSE(ReadRight(first(), {all_[0]}));
  first().server->wrong = false;
  EXPECT_TRUE(ReadRight(first(), {all_[1]}));
  EXPECT_TRUE(ReadRight(first(), {all_[2]}));
  ASSERT_TRUE(WaitFor(first(), Stat::kFleetKept, 2));
  // Once the wrong bytes, which wait on another thread, have been left out.
  while (first().statistics.Get(Stat::kFleetKept) < 3) EXPECT_TRUE(ReadRight(first(), {all_[0]}, /*again=*/true));
  EXPECT_TRUE(ReadRight(second(), {all_[0]}));
  EXPECT_EQ(second().statistics.Get(Stat::kFleetWrong), 0U);
}

// Bytes that are wrong for the reader are not asked of the fleet a second time.
TEST_F(FleetShardsTest, ASecondAttemptAsksTheStoresServer) {
  ASSERT_TRUE(ReadRight(first(), {all_[0]}));
  ASSERT_TRUE(WaitFor(first(), Stat::kFleetKept, 1));
  first().server->asked.clear();
  EXPECT_TRUE(ReadRight(first(), {all_[0]}, /*again=*/true));
  EXPECT_EQ(first().server->asked.size(), 1U);
}

TEST_F(FleetShardsTest, ARangeWithoutNamesIsReadAsItIs) {
  EXPECT_TRUE(ReadRight(first(), all_, /*again=*/false, /*named=*/false));
  EXPECT_EQ(first().server->asked.size(), 1U);
  EXPECT_EQ(first().statistics.Get(Stat::kFleetMisses), 0U);
}

TEST_F(FleetShardsTest, ServersThatAreGoneCostNothingButTheirRecords) {
  one_.Kill();
  two_.Kill();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(ReadRight(first(), all_));
  EXPECT_EQ(first().server->asked.size(), 5U);
  EXPECT_EQ(first().copy->counts().out, 2U);
}

TEST_F(FleetShardsTest, AFailureOfTheStoresServerIsOneOfTheRead) {
  first().server->down = true;
  EXPECT_FALSE(ReadRight(first(), all_));
  first().server->down = false;
  EXPECT_TRUE(ReadRight(first(), all_));
}

TEST(FleetCopy, AStoreWhoseChecksumsCanBeForgedIsRefused) {
  const testing::TempFolder folder;
  testing::SmallStore(/*version=*/1).Write(folder.path());
  const auto store = Store::Open(folder.path(), {});
  ASSERT_TRUE(store.ok()) << store.status().text();
  Statistics statistics;
  const auto copy =
      FleetCopy::Open({.list = *FleetList::Parse("127.0.0.1:1"), .waiting_bytes_max = 1}, *store, statistics);
  EXPECT_EQ(copy.status().code(), Code::kUnsupported);
  EXPECT_NE(copy.status().text().find("augurpack upgrade"), std::string::npos);
}

}  // namespace
}  // namespace augur
