// SPDX-License-Identifier: Apache-2.0
// Machines of a fleet that bring a store to their memcached servers, each its share.
#include "remote/fleet_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "augur/store_writer.h"
#include "base/mutex.h"
#include "unit/fleet/memcached_server.h"
#include "unit/remote/memory_server.h"
#include "unit/store/test_store.h"

namespace augur {
namespace {

using testing::MemcachedServer;
using testing::MemoryServer;

constexpr size_t kMachines = 3;

template <typename Condition>
bool WaitFor(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

class FleetSweepTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kFileBytes = 400'000;
  static constexpr uint64_t kFilesOfPiece = SweepCursor::kPieceBytes / kFileBytes;
  static constexpr uint64_t kPieces = 11;
  static constexpr uint64_t kFiles = kPieces * kFilesOfPiece;

  // A daemon on a machine of the fleet.
  struct Machine {
    Statistics statistics;
    std::unique_ptr<FleetCopy> copy;
    MemoryServer* server = nullptr;
    std::unique_ptr<FleetSweep> sweep;

    ~Machine() {
      sweep.reset();
      if (copy) copy->Stop();
    }
    bool IsOver() const { return sweep->Describe().starts_with("the sweep is over"); }
  };

  void SetUp() override {
    auto writer = StoreWriter::Begin(path(), {});
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    for (uint64_t number = 0; number < kFiles; ++number) {
      const std::string content = testing::Noise(kFileBytes, static_cast<uint32_t>(number));
      ASSERT_TRUE((*writer)
                      ->AddFile(std::to_string(1000 + number), {.mode = 0644}, {}, std::as_bytes(std::span(content)))
                      .ok());
    }
    ASSERT_TRUE((*writer)->Commit().ok());
    auto store = Store::Open(path(), {});
    ASSERT_TRUE(store.ok()) << store.status().text();
    store_ = *store;
    StartServers({"-M", "-I", "2m", "-m", "256"});
  }

  void StartServers(const std::vector<std::string>& words) {
    for (auto& server : servers_) server = std::make_unique<MemcachedServer>(words);
  }
  std::string path() const { return folder_.path() + "/store"; }
  std::string List() const {
    return servers_[0]->address().text() + "_" + servers_[1]->address().text() + "_" + servers_[2]->address().text();
  }

  // Without a sweep, as yet.
  std::unique_ptr<Machine> Join() {
    auto machine = std::make_unique<Machine>();
    auto copy = FleetCopy::Open({.list = *FleetList::Parse(List()), .waiting_bytes_max = uint64_t{64} << 20}, store_,
                                machine->statistics);
    EXPECT_TRUE(copy.ok()) << copy.status().text();
    machine->copy = *std::move(copy);
    EXPECT_TRUE(machine->copy->Start().ok());
    auto server = std::make_unique<MemoryServer>(testing::ReadFile(path() + "/shard-00000001-00000"));
    machine->server = server.get();
    server_ = std::move(server);
    return machine;
  }
  void Sweep(Machine& machine, size_t number, uint64_t bytes = uint64_t{36} << 20) {
    FleetSweepOptions options = {.self = {}, .bytes_max = bytes, .claim = claim_};
    if (number < kMachines) options.self.address = servers_[number]->address();
    machine.sweep = std::make_unique<FleetSweep>(*machine.copy, store_, std::move(server_), options);
    EXPECT_TRUE(machine.sweep->Start().ok());
  }
  std::unique_ptr<Machine> JoinAndSweep(size_t number) {
    auto machine = Join();
    Sweep(*machine, number);
    return machine;
  }

  // How many blocks the fleet has.
  size_t CountThere() {
    const auto machine = Join();
    SweepCursor cursor(store_);
    size_t there = 0;
    for (std::vector<WantedBlock> piece = cursor.Next(); !piece.empty(); piece = cursor.Next()) {
      std::promise<std::vector<FleetSight>> looked;
      machine->copy->Look(piece, [&](const std::vector<FleetSight>& sights) { looked.set_value(sights); });
      const std::vector<FleetSight> sights = looked.get_future().get();
      there += static_cast<size_t>(std::ranges::count(sights, FleetSight::kThere));
    }
    return there;
  }
  // Of a machine whose sweep is over or ended.
  static uint64_t Asked(const Machine& machine) {
    return std::accumulate(machine.server->asked.begin(), machine.server->asked.end(), uint64_t{0},
                           [](uint64_t sum, const MemoryServer::Asked& one) { return sum + one.bytes; });
  }

  std::chrono::seconds claim_{1};
  testing::TempFolder folder_;
  std::shared_ptr<const Store> store_;
  std::array<std::unique_ptr<MemcachedServer>, kMachines> servers_;
  std::unique_ptr<MemoryServer> server_;
};

// Without a reader, and by one request for each piece.
TEST_F(FleetSweepTest, EachByteLeavesTheStoreOnce) {
  claim_ = std::chrono::seconds(60);  // nobody dies, and on a busy machine a piece takes a while
  std::vector<std::unique_ptr<Machine>> machines;
  for (size_t number = 0; number < kMachines; ++number) machines.push_back(JoinAndSweep(number));
  uint64_t asked = 0;
  size_t requests = 0;
  for (const auto& machine : machines) {
    ASSERT_TRUE(WaitFor([&] { return machine->IsOver() && CountThere() == kFiles; })) << machine->sweep->Describe();
    machine->sweep->Stop();
    EXPECT_EQ(machine->statistics.Get(Stat::kFleetSweptBytes), Asked(*machine));
    EXPECT_EQ(machine->sweep->percent(), 100U);
    asked += Asked(*machine);
    requests += machine->server->asked.size();
  }
  EXPECT_GE(asked, kFiles * kFileBytes);
  EXPECT_LE(asked, kFiles * kFileBytes * 101 / 100);
  EXPECT_EQ(requests, kPieces);
}

TEST_F(FleetSweepTest, AMachineThatComesBackAsksForNothing) {
  auto first = JoinAndSweep(0);
  ASSERT_TRUE(WaitFor([&] { return first->IsOver(); })) << first->sweep->Describe();
  EXPECT_EQ(CountThere(), kFiles) << "those of machines that are not there too";
  first.reset();
  for (size_t number = 0; number < kMachines; ++number) {
    const auto again = JoinAndSweep(number);
    ASSERT_TRUE(WaitFor([&] { return again->IsOver(); })) << again->sweep->Describe();
    again->sweep->Stop();
    EXPECT_TRUE(again->server->asked.empty());
  }
}

// What it had begun is left to it, as long as its note lasts.
TEST_F(FleetSweepTest, ThePiecesOfADeadMachineAreTakenOver) {
  std::vector<FleetKey> begun;
  {
    const auto dead = Join();
    SweepCursor cursor(store_);
    for (int i = 0; i < 3; ++i) {
      begun.push_back(*dead->copy->KeyOf(cursor.Next()[0]));
      std::promise<FleetStored> noted;
      dead->copy->client().Note(begun.back(), std::chrono::seconds(10'000),
                                [&](FleetStored stored) { noted.set_value(stored); });
      ASSERT_EQ(noted.get_future().get(), FleetStored::kKept);
    }
  }
  const auto machine = JoinAndSweep(0);
  ASSERT_TRUE(WaitFor([&] { return machine->IsOver(); }));
  EXPECT_EQ(CountThere(), kFiles - 3 * kFilesOfPiece);
  for (const auto& server : servers_) {
    MemcachedConnection connection(server->address());
    for (const FleetKey& key : begun) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      ASSERT_TRUE(connection.Set(key.text() + "-note", {}, until, {.time = std::chrono::seconds(1)}).ok());
    }
  }
  ASSERT_TRUE(WaitFor([&] { return CountThere() == kFiles; })) << machine->sweep->Describe();
  machine->sweep->Stop();
  EXPECT_LE(Asked(*machine), kFiles * kFileBytes * 101 / 100);
}

TEST_F(FleetSweepTest, WhatReadersHaveGivenIsNotAskedFor) {
  const auto machine = Join();
  const std::string shard = testing::ReadFile(path() + "/shard-00000001-00000");
  SweepCursor cursor(store_);
  size_t given = 0;
  for (std::vector<WantedBlock> piece = cursor.Next(); !piece.empty(); piece = cursor.Next()) {
    for (size_t i = 0; i < piece.size(); i += 7, ++given) {
      machine->copy->Keep(piece[i], std::as_bytes(std::span(shard)).subspan(OffsetOf(piece[i]), BytesOf(piece[i])));
    }
  }
  ASSERT_TRUE(WaitFor([&] { return machine->statistics.Get(Stat::kFleetKept) == given; }));
  Sweep(*machine, 1);
  ASSERT_TRUE(WaitFor([&] { return machine->IsOver(); })) << machine->sweep->Describe();
  EXPECT_EQ(CountThere(), kFiles);
  machine->sweep->Stop();
  EXPECT_LE(Asked(*machine), (kFiles - given) * kFileBytes * 101 / 100);
}

TEST_F(FleetSweepTest, AFullFleetEndsIt) {
  StartServers({"-M", "-I", "1m", "-m", "8"});
  std::vector<std::unique_ptr<Machine>> machines;
  for (size_t number = 0; number < kMachines; ++number) machines.push_back(JoinAndSweep(number));
  for (const auto& machine : machines) {
    ASSERT_TRUE(WaitFor([&] { return machine->sweep->Describe().find("the fleet is full") != std::string::npos; }))
        << machine->sweep->Describe();
    machine->sweep->Stop();
    // How many pieces are its own depends on the servers' addresses, which are others each time. Three pieces are all
    // that fits into the servers; two that are refused end the sweep, and three may be under way beside them.
    EXPECT_LE(Asked(*machine), 8 * SweepCursor::kPieceBytes);
  }
  EXPECT_GT(CountThere(), 0U);
}

TEST_F(FleetSweepTest, AServerOfTheFleetThatIsGoneCostsItsShare) {
  servers_[2]->Kill();
  const auto machine = JoinAndSweep(0);
  ASSERT_TRUE(WaitFor([&] { return machine->IsOver(); })) << machine->sweep->Describe();
  EXPECT_NE(machine->sweep->Describe().find("do not answer"), std::string::npos);
  const size_t there = CountThere();
  EXPECT_GT(there, kFiles / 2);
  EXPECT_LT(there, kFiles);
  machine->sweep->Stop();
  EXPECT_LE(Asked(*machine), kFiles * kFileBytes * 101 / 100);
}

TEST_F(FleetSweepTest, AStoreThatIsAwayIsAskedAgain) {
  const auto machine = Join();
  machine->server->down = true;
  Sweep(*machine, 0);
  ASSERT_TRUE(WaitFor([&] { return machine->sweep->Describe().find("does not answer") != std::string::npos; }));
  EXPECT_EQ(CountThere(), 0U);
  machine->server->down = false;
  EXPECT_TRUE(WaitFor([&] { return CountThere() == kFiles; })) << machine->sweep->Describe();
}

TEST_F(FleetSweepTest, WrongBytesAreNotGivenToTheFleet) {
  const auto machine = Join();
  machine->server->wrong = true;  // the first byte of each request
  Sweep(*machine, 0);
  ASSERT_TRUE(WaitFor([&] { return machine->IsOver(); })) << machine->sweep->Describe();
  machine->sweep->Stop();
  EXPECT_EQ(CountThere(), kFiles - machine->server->asked.size());
}

TEST_F(FleetSweepTest, LittleMemoryMakesSmallRequests) {
  const auto machine = Join();
  Sweep(*machine, 0, FleetSweep::kBytesMin);
  ASSERT_TRUE(WaitFor([&] { return machine->IsOver(); })) << machine->sweep->Describe();
  EXPECT_EQ(CountThere(), kFiles);
  machine->sweep->Stop();
  for (const MemoryServer::Asked& one : machine->server->asked) EXPECT_LE(one.bytes, FleetSweep::kBytesMin);
  EXPECT_LE(Asked(*machine), kFiles * kFileBytes * 101 / 100);
}

TEST_F(FleetSweepTest, AMachineThatDoesNotKnowItselfSweepsNothing) {
  const auto machine = JoinAndSweep(kMachines);  // all servers are on loopback addresses
  ASSERT_TRUE(WaitFor([&] { return machine->sweep->Describe().starts_with("no sweep: "); }));
  EXPECT_NE(machine->sweep->Describe().find("-o fleet-self=HOST:PORT"), std::string::npos);
  EXPECT_TRUE(machine->server->asked.empty());
}

// A server that has answered nothing when the daemon ends.
class SilentServer final : public ShardSource {
 public:
  void Read(ShardRead read) override {
    const MutexLock lock(mu_);
    waiting_.push_back(std::move(read));
  }
  void Cancel(const void* tag) override {
    std::vector<ShardRead> ended;
    {
      const MutexLock lock(mu_);
      const auto others = std::ranges::partition(waiting_, [&](const ShardRead& one) { return one.tag != tag; });
      std::ranges::move(others, std::back_inserter(ended));
      waiting_.erase(others.begin(), others.end());
    }
    for (const ShardRead& one : ended) one.done({.status = Status(Code::kStopped, "cancelled")});
  }
  void Drain() override { EXPECT_EQ(waiting(), 0U); }
  size_t waiting() {
    const MutexLock lock(mu_);
    return waiting_.size();
  }

 private:
  Mutex mu_;
  std::vector<ShardRead> waiting_ AUGUR_GUARDED_BY(mu_);
};

TEST_F(FleetSweepTest, TheEndDoesNotWaitForTheStore) {
  const auto machine = Join();
  auto silent = std::make_unique<SilentServer>();
  SilentServer* const server = silent.get();
  machine->sweep = std::make_unique<FleetSweep>(
      *machine->copy, store_, std::move(silent),
      FleetSweepOptions{.self = {.address = servers_[0]->address()}, .bytes_max = uint64_t{36} << 20});
  EXPECT_TRUE(machine->sweep->Start().ok());
  EXPECT_TRUE(WaitFor([&] { return server->waiting() == 1; }));
  machine->sweep->Stop();
}

}  // namespace
}  // namespace augur
