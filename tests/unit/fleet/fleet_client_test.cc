// SPDX-License-Identifier: Apache-2.0
// Values on several real servers, some of which die, hang, fill up or lie.
#include "fleet/fleet_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "unit/fleet/memcached_server.h"
#include "unit/store/test_store.h"

namespace augur {
namespace {

using testing::MemcachedServer;

constexpr size_t kValues = 60;

class FleetClientTest : public ::testing::Test {
 protected:
  static FleetKey KeyOf(size_t number) {
    return {.hash = {.low = number * 0x9e3779b97f4a7c15, .high = number}, .size = ValueOf(number).size()};
  }
  static std::string ValueOf(size_t number) { return testing::Noise(20'000 + number, static_cast<uint32_t>(number)); }

  void Start(const std::string& list, std::chrono::milliseconds out = MemberBreaker::kOut) {
    auto parsed = FleetList::Parse(list);
    ASSERT_TRUE(parsed.ok()) << parsed.status().text();
    auto client = FleetClient::Make({.list = *parsed,
                                     .waiting_bytes_max = uint64_t{64} << 20,
                                     .events = {.on_kept = [this] { ++kept_; }, .on_refused = [this] { ++refused_; }},
                                     .between_looks = std::chrono::milliseconds(5),
                                     .out = out});
    ASSERT_TRUE(client.ok()) << client.status().text();
    client_ = *std::move(client);
    ASSERT_TRUE(client_->Start().ok());
  }
  static std::string ListOf(const std::vector<std::unique_ptr<MemcachedServer>>& servers) {
    std::string list;
    for (const auto& server : servers) list += (list.empty() ? "" : "_") + server->address().text();
    return list;
  }
  static std::vector<std::unique_ptr<MemcachedServer>> Servers(size_t count) {
    std::vector<std::unique_ptr<MemcachedServer>> servers;
    for (size_t i = 0; i < count; ++i) servers.push_back(std::make_unique<MemcachedServer>());
    return servers;
  }

  template <typename Condition>
  static bool WaitFor(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  bool Offer(size_t number, bool right = true) {
    return client_->Offer(KeyOf(number), [number, right] {
      const auto value = std::make_shared<const std::string>(ValueOf(number));
      return FleetValue{
          .owner = value, .bytes = std::as_bytes(std::span(*value)), .is_right = [right] { return right; }};
    });
  }
  void Fill() {
    for (size_t number = 0; number < kValues; ++number) ASSERT_TRUE(Offer(number));
    ASSERT_TRUE(WaitFor([this] { return kept_ == kValues; })) << kept_;
  }

  // Which values are found; each has the right bytes.
  std::vector<bool> Get(const std::vector<size_t>& numbers) {
    std::vector<std::string> memory;
    std::vector<FleetWanted> wanted;
    memory.reserve(numbers.size());
    for (const size_t number : numbers) memory.emplace_back(KeyOf(number).size, '\0');
    for (size_t i = 0; i < numbers.size(); ++i) {
      wanted.push_back({.key = KeyOf(numbers[i]), .into = reinterpret_cast<std::byte*>(memory[i].data())});
    }
    std::promise<std::vector<bool>> ended;
    client_->Get(
        std::move(wanted), /*urgent=*/true,
        [numbers](size_t i, std::span<const std::byte> bytes) {
          const std::string value = ValueOf(numbers[i]);
          return bytes.size() == value.size() && std::memcmp(bytes.data(), value.data(), value.size()) == 0;
        },
        [&ended](const std::vector<bool>& found) { ended.set_value(found); });
    std::vector<bool> found = ended.get_future().get();
    for (size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_TRUE(!found[i] || memory[i] == ValueOf(numbers[i]));
    }
    return found;
  }
  size_t Count() {
    std::vector<size_t> all(kValues);
    for (size_t i = 0; i < kValues; ++i) all[i] = i;
    return static_cast<size_t>(std::ranges::count(Get(all), true));
  }

  std::atomic<size_t> kept_ = 0;
  std::atomic<size_t> refused_ = 0;
  std::unique_ptr<FleetClient> client_;
};

class FleetErrandTest : public FleetClientTest {
 protected:
  std::vector<FleetSight> Look() {
    std::vector<FleetKey> keys;
    for (size_t number = 0; number < kValues; ++number) keys.push_back(KeyOf(number));
    std::promise<std::vector<FleetSight>> looked;
    client_->Look(keys, [&looked](const std::vector<FleetSight>& sights) { looked.set_value(sights); });
    return looked.get_future().get();
  }
  static size_t CountOf(const std::vector<FleetSight>& sights, FleetSight sight) {
    return static_cast<size_t>(std::ranges::count(sights, sight));
  }
  FleetStored Put(size_t number) {
    const std::string value = ValueOf(number);
    std::promise<FleetStored> stored;
    client_->Put(KeyOf(number), std::as_bytes(std::span(value)), [&stored](FleetStored one) { stored.set_value(one); });
    return stored.get_future().get();
  }
  FleetStored Note(size_t number, std::chrono::seconds lifetime) {
    std::promise<FleetStored> stored;
    client_->Note(KeyOf(number), lifetime, [&stored](FleetStored one) { stored.set_value(one); });
    return stored.get_future().get();
  }
};

TEST_F(FleetErrandTest, WhatWasPutIsSeenAndFound) {
  const auto servers = Servers(3);
  Start(ListOf(servers));
  EXPECT_EQ(CountOf(Look(), FleetSight::kMissing), kValues);
  for (size_t number = 0; number < kValues / 2; ++number) EXPECT_EQ(Put(number), FleetStored::kKept);
  const std::vector<FleetSight> sights = Look();
  for (size_t number = 0; number < kValues; ++number) {
    EXPECT_EQ(sights[number], number < kValues / 2 ? FleetSight::kThere : FleetSight::kMissing);
  }
  EXPECT_EQ(Count(), kValues / 2);
  client_->Look({}, [](const std::vector<FleetSight>& none) { EXPECT_TRUE(none.empty()); });
}

TEST_F(FleetErrandTest, OneMachineAloneLeavesANoteUntilItIsGone) {
  const auto servers = Servers(2);
  Start(ListOf(servers));
  EXPECT_EQ(Note(1, std::chrono::seconds(1000)), FleetStored::kKept);
  EXPECT_EQ(Note(1, std::chrono::seconds(1000)), FleetStored::kExists);
  EXPECT_EQ(Note(2, std::chrono::seconds(1)), FleetStored::kKept);
  EXPECT_TRUE(WaitFor([this] { return Note(2, std::chrono::seconds(1000)) == FleetStored::kKept; }));
  EXPECT_EQ(CountOf(Look(), FleetSight::kThere), 0U) << "a note is no value";
}

TEST_F(FleetErrandTest, AServerThatIsGoneIsAwayUntilItComesBack) {
  const auto servers = Servers(2);
  Start(ListOf(servers), std::chrono::milliseconds(5));
  servers[0]->Kill();
  const uint64_t before = client_->changes();
  size_t away = 0;
  ASSERT_TRUE(WaitFor([&] {
    away = CountOf(Look(), FleetSight::kAway);
    return client_->counts().out == 1;
  }));
  EXPECT_GT(away, 0U);
  EXPECT_LT(away, kValues);
  servers[0]->StartAgain();
  ASSERT_TRUE(WaitFor([&] { return CountOf(Look(), FleetSight::kMissing) == kValues; }));
  EXPECT_NE(client_->changes(), before);
}

TEST_F(FleetErrandTest, AServerThatHangsIsAway) {
  const auto servers = Servers(1);
  Start(ListOf(servers));
  servers[0]->Stop();
  ASSERT_TRUE(WaitFor([&] {
    Look();
    return client_->counts().out == 1;
  }));
  EXPECT_EQ(Put(0), FleetStored::kAway);
  EXPECT_EQ(CountOf(Look(), FleetSight::kAway), kValues);
  servers[0]->Continue();
}

TEST_F(FleetErrandTest, AServerIsFullUntilItIsStartedAnew) {
  std::vector<std::unique_ptr<MemcachedServer>> servers;
  servers.push_back(std::make_unique<MemcachedServer>(std::vector<std::string>{"-M", "-I", "512k", "-m", "2"}));
  Start(ListOf(servers), std::chrono::milliseconds(5));
  size_t kept = 0;
  size_t refused = 0;
  for (size_t number = 0; refused < 10 && number < 1000; ++number)
    (Put(number) == FleetStored::kKept ? kept : refused)++;
  EXPECT_GT(kept, 0U);
  EXPECT_EQ(refused, 10U);
  std::vector<FleetSight> sights = Look();
  EXPECT_EQ(CountOf(sights, FleetSight::kMissing), 0U);
  EXPECT_GT(CountOf(sights, FleetSight::kFull) + CountOf(sights, FleetSight::kThere), 0U);
  servers[0]->Kill();
  servers[0]->StartAgain();
  EXPECT_TRUE(WaitFor([this] { return CountOf(Look(), FleetSight::kMissing) == kValues; }));
}

TEST_F(FleetErrandTest, RanksFollowTheList) {
  const auto servers = Servers(3);
  Start(ListOf(servers));
  const std::vector<FleetAddress> addresses = client_->addresses();
  ASSERT_EQ(addresses.size(), 3U);
  for (size_t number = 0; number < kValues; ++number) {
    std::set<std::optional<size_t>> ranks;
    for (const FleetAddress& address : addresses) ranks.insert(client_->RankOf(KeyOf(number).hash, address));
    EXPECT_EQ(ranks, (std::set<std::optional<size_t>>{0, 1, 2}));
  }
  EXPECT_FALSE(client_->RankOf({}, {.host = "elsewhere", .port = 1}));
}

TEST_F(FleetClientTest, EachServerHasItsShareAndAllIsFound) {
  const auto servers = Servers(3);
  Start(ListOf(servers));
  EXPECT_EQ(Count(), 0U);
  Fill();
  EXPECT_EQ(Count(), kValues);
  size_t sum = 0;
  for (const auto& server : servers) {
    Start(server->address().text());
    const size_t share = Count();
    EXPECT_GT(share, 0U);
    sum += share;
  }
  EXPECT_EQ(sum, kValues);
}

// Of two servers one is killed: its share is not found, all else is; it is out, and costs nothing any more.
TEST_F(FleetClientTest, AServerThatDiesCostsItsShare) {
  const auto servers = Servers(2);
  Start(ListOf(servers));
  Fill();
  servers[1]->Kill();
  const size_t left = Count();
  EXPECT_GT(left, 0U);
  EXPECT_LT(left, kValues);
  while (client_->counts().out == 0) EXPECT_EQ(Count(), left);
  EXPECT_EQ(Count(), left);
  EXPECT_EQ(client_->counts().members, 2U);
}

TEST_F(FleetClientTest, AServerThatHangsCostsItsShareAndComesBack) {
  const auto servers = Servers(2);
  Start(ListOf(servers), std::chrono::milliseconds(1));
  Fill();
  servers[1]->Stop();
  const size_t left = Count();
  EXPECT_GT(left, 0U);
  EXPECT_LT(left, kValues);
  ASSERT_TRUE(WaitFor([this] { return Count() < kValues && client_->counts().out == 1; }));
  servers[1]->Continue();
  EXPECT_TRUE(WaitFor([this] { return Count() == kValues; }));
  // A read ends before its server is noted as back.
  EXPECT_TRUE(WaitFor([this] { return client_->counts().out == 0; }));
}

// Its keys go to no other server: it has them when it is back.
TEST_F(FleetClientTest, WhatBelongsToAServerThatIsOutIsNotKept) {
  const auto servers = Servers(2);
  Start(ListOf(servers));
  servers[1]->Kill();
  while (client_->counts().out == 0) EXPECT_EQ(Count(), 0U);
  size_t taken = 0;
  for (size_t number = 0; number < kValues; ++number) taken += Offer(number) ? 1 : 0;
  EXPECT_LT(taken, kValues);
  ASSERT_TRUE(WaitFor([&] { return kept_ == taken; }));
  EXPECT_EQ(Count(), taken);
}

TEST_F(FleetClientTest, WrongValuesAreNotTakenAndNotSent) {
  const auto servers = Servers(1);
  Start(ListOf(servers));
  EXPECT_TRUE(Offer(0, /*right=*/false));
  EXPECT_TRUE(Offer(1));
  ASSERT_TRUE(WaitFor([this] { return kept_ == 1; }));
  EXPECT_EQ(Get({0, 1}), (std::vector<bool>{false, true}));
  MemcachedConnection connection(servers[0]->address());
  for (const std::string& wrong :
       {testing::Noise(KeyOf(1).size, 99), std::string("short"), std::string(100'000, 'x'), std::string()}) {
    ASSERT_TRUE(connection
                    .Set(KeyOf(1).text(), std::as_bytes(std::span(wrong)),
                         std::chrono::steady_clock::now() + std::chrono::seconds(60), {})
                    .ok());
    EXPECT_EQ(Get({1}), std::vector<bool>{false});
  }
}

TEST_F(FleetClientTest, AFullServerIsToldAndNothingIsLost) {
  const MemcachedServer server({"-M", "-I", "512k", "-m", "1"});
  Start(server.address().text());
  size_t number = 0;
  ASSERT_TRUE(WaitFor([&] {
    (void)Offer(number++ % kValues);
    return refused_ > 0;
  }));
  EXPECT_EQ(client_->counts().out, 0U);
  const size_t found = Count();
  EXPECT_GT(found, 0U);
  EXPECT_LT(found, kValues);
}

TEST_F(FleetClientTest, ANameThatDoesNotExistIsAServerThatIsOut) {
  Start("no-such-host.invalid:11211");
  while (client_->counts().out == 0) EXPECT_EQ(Count(), 0U);
  EXPECT_EQ(Count(), 0U);
}

TEST_F(FleetClientTest, TheListIsReadAgain) {
  const testing::TempFolder folder;
  const std::string path = folder.path() + "/list";
  const auto servers = Servers(2);
  testing::WriteFile(path, servers[0]->address().text());
  Start("@" + path);
  EXPECT_EQ(client_->counts().members, 1U);
  Fill();
  testing::WriteFile(path + "2", servers[0]->address().text() + "\n" + servers[1]->address().text() + "\n");
  ASSERT_EQ(rename((path + "2").c_str(), path.c_str()), 0);
  EXPECT_TRUE(WaitFor([this] { return client_->counts().members == 2; }));
  const size_t stayed = Count();
  EXPECT_GT(stayed, 0U);
  EXPECT_LT(stayed, kValues);
  testing::WriteFile(path, "nonsense");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(Count(), stayed);  // the list of before
  testing::WriteFile(path, servers[0]->address().text());
  EXPECT_TRUE(WaitFor([this] { return client_->counts().members == 1; }));
  EXPECT_EQ(Count(), kValues);
}

// Reads that are under way while servers hang, and when the client stops, all end.
TEST_F(FleetClientTest, AllReadsEnd) {
  const auto servers = Servers(2);
  Start(ListOf(servers));
  Fill();
  std::vector<std::vector<std::byte>> memory(1000, std::vector<std::byte>(KeyOf(0).size));
  std::atomic<size_t> ended = 0;
  for (size_t i = 0; i < memory.size(); ++i) {
    if (i == memory.size() / 2) servers[i % 2]->Stop();
    client_->Get(
        {{.key = {.hash = KeyOf(i).hash, .size = memory[i].size()}, .into = memory[i].data()}}, i % 3 == 0,
        [](size_t, std::span<const std::byte>) { return false; }, [&ended](const std::vector<bool>&) { ++ended; });
  }
  client_->Stop();
  EXPECT_EQ(ended, memory.size());
}

}  // namespace
}  // namespace augur
