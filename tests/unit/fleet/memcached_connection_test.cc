// SPDX-License-Identifier: Apache-2.0
// A connection to real servers, and to one that lies.
#include "fleet/memcached_connection.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <map>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "unit/fleet/held_name.h"
#include "unit/fleet/memcached_server.h"
#include "unit/store/test_store.h"

namespace augur {
namespace {

using Kept = MemcachedConnection::Kept;
using Wait = std::chrono::milliseconds;

constexpr Wait kLong(60'000);
constexpr Wait kShort(50);

MemcachedConnection::Time In(Wait wait) { return std::chrono::steady_clock::now() + wait; }

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

struct Got {
  Status status;
  std::map<size_t, std::string> values;
};

Got Get(MemcachedConnection& connection, const std::vector<std::string>& keys, Wait wait = kLong) {
  Got got;
  got.status = connection.Get(keys, In(wait), [&](size_t key, std::span<const std::byte> value) {
    got.values[key] = {reinterpret_cast<const char*>(value.data()), value.size()};
  });
  return got;
}

// A server that answers the first request with these bytes, and then nothing more.
class LyingServer {
 public:
  explicit LyingServer(const std::string& answer) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_.get(), 8), 0);
    EXPECT_EQ(getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer] {
      const UniqueFd client(accept(socket_.get(), nullptr, nullptr));
      std::array<char, 4096> request;
      if (recv(client.get(), request.data(), request.size(), 0) <= 0) return;
      (void)send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      while (recv(client.get(), request.data(), request.size(), 0) > 0) {
      }
    });
  }
  ~LyingServer() {
    shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }
  FleetAddress address() const { return {.host = "127.0.0.1", .port = port_}; }

 private:
  UniqueFd socket_;
  uint16_t port_ = 0;
  std::thread thread_;
};

TEST(MemcachedConnection, LooksForValuesWithoutTakingThem) {
  const testing::MemcachedServer server;
  MemcachedConnection connection(server.address());
  std::vector<std::string> keys;
  std::vector<bool> there;
  for (size_t i = 0; i < 300; ++i) {
    keys.push_back("key-" + std::to_string(i));
    there.push_back(i % 3 == 0);
    if (!there[i]) continue;
    ASSERT_EQ(*connection.Set(keys[i], Bytes(testing::Noise(i * 97, 1)), In(kLong), {}), Kept::kYes);
  }
  const auto looked = connection.Look(keys, In(kLong));
  ASSERT_TRUE(looked.ok()) << looked.status().text();
  EXPECT_EQ(*looked, there);
  const Got got = Get(connection, keys);
  EXPECT_TRUE(got.status.ok()) << "no answer was left over";
  EXPECT_EQ(got.values.size(), 100U);
  EXPECT_TRUE(connection.Look({}, In(kLong))->empty());
}

TEST(MemcachedConnection, AnotherAnswerToALookIsAFailure) {
  for (const char* answer : {"STORED\r\n", "ERROR\r\n", "TOUCHED \r\n", "VALUE a 0 1\r\nx\r\nEND\r\n"}) {
    const LyingServer server(answer);
    MemcachedConnection connection(server.address());
    EXPECT_EQ(connection.Look({{"a"}}, In(kLong)).status().code(), Code::kIo) << answer;
  }
}

TEST(MemcachedConnection, GivesBackWhatWasSet) {
  const testing::MemcachedServer server;
  MemcachedConnection connection(server.address());
  std::vector<std::string> keys;
  std::map<size_t, std::string> values;
  for (size_t i = 0; i < 100; ++i) {
    keys.push_back("key-" + std::to_string(i));
    if (i % 3 == 0) continue;  // not there
    values[i] = testing::Noise(i * 997, static_cast<uint32_t>(i));
    const auto kept = connection.Set(keys[i], Bytes(values[i]), In(kLong), {});
    ASSERT_TRUE(kept.ok()) << kept.status().text();
    EXPECT_EQ(*kept, Kept::kYes);
  }
  const Got got = Get(connection, keys);
  EXPECT_TRUE(got.status.ok()) << got.status.text();
  EXPECT_EQ(got.values, values);
  EXPECT_TRUE(Get(connection, {"none"}).status.ok());
}

TEST(MemcachedConnection, AWholeBlockFitsWhereTheServerTakesTwoMebibytes) {
  const std::string block = testing::Noise(1 << 20, 1);
  const testing::MemcachedServer server;
  MemcachedConnection connection(server.address());
  EXPECT_EQ(*connection.Set("block", Bytes(block), In(kLong), {}), Kept::kYes);
  EXPECT_EQ(Get(connection, {"block"}).values[0], block);
  const testing::MemcachedServer other({"-M"});  // 1 MiB with the key and a header
  MemcachedConnection small(other.address());
  EXPECT_EQ(*small.Set("block", Bytes(block), In(kLong), {}), Kept::kRefused);
  EXPECT_EQ(*small.Set("less", Bytes("less"), In(kLong), {}), Kept::kYes);
  EXPECT_EQ(Get(small, {"block", "less"}).values, (std::map<size_t, std::string>{{1, "less"}}));
}

TEST(MemcachedConnection, AFullServerRefusesAndKeepsWhatItHas) {
  const testing::MemcachedServer server({"-M", "-I", "2m", "-m", "8"});
  MemcachedConnection connection(server.address());
  const std::string value = testing::Noise(110'000, 1);
  size_t kept = 0;
  while (kept < 200) {
    const auto outcome = connection.Set("key-" + std::to_string(kept), Bytes(value), In(kLong), {});
    ASSERT_TRUE(outcome.ok()) << outcome.status().text();
    if (*outcome == Kept::kRefused) break;
    ++kept;
  }
  EXPECT_GT(kept, 10U);
  EXPECT_LT(kept, 80U);
  for (size_t i = 0; i < kept; ++i) EXPECT_EQ(Get(connection, {"key-" + std::to_string(i)}).values[0], value);
}

TEST(MemcachedConnection, AServerThatIsGoneFailsAndComesBack) {
  testing::MemcachedServer server;
  MemcachedConnection connection(server.address());
  ASSERT_EQ(*connection.Set("key", Bytes("value"), In(kLong), {}), Kept::kYes);
  server.Kill();
  for (int i = 0; i < 3; ++i) {
    const Got got = Get(connection, {"key"});
    EXPECT_EQ(got.status.code(), Code::kIo) << got.status.text();
    EXPECT_TRUE(got.values.empty());
    EXPECT_FALSE(connection.Set("key", Bytes("value"), In(kLong), {}).ok());
  }
  server.StartAgain();
  EXPECT_EQ(*connection.Set("key", Bytes("other"), In(kLong), {}), Kept::kYes);
  EXPECT_EQ(Get(connection, {"key"}).values[0], "other");
}

// What was asked for before the server went silent is not taken for an answer to what is asked after.
TEST(MemcachedConnection, AServerThatIsSilentFailsAndItsLateAnswerIsNotTaken) {
  testing::MemcachedServer server;
  MemcachedConnection connection(server.address());
  ASSERT_EQ(*connection.Set("one", Bytes("1"), In(kLong), {}), Kept::kYes);
  ASSERT_EQ(*connection.Set("two", Bytes("2"), In(kLong), {}), Kept::kYes);
  server.Stop();
  EXPECT_EQ(Get(connection, {"one"}, kShort).status.code(), Code::kIo);
  EXPECT_EQ(connection.Set("one", Bytes("new"), In(kShort), {}).status().code(), Code::kIo);
  server.Continue();
  EXPECT_EQ(Get(connection, {"two"}).values, (std::map<size_t, std::string>{{0, "2"}}));
}

TEST(MemcachedConnection, AnAddressWithoutServerOrNameFails) {
  for (const char* host : {"no-such-host.invalid", "127.0.0.1"}) {
    MemcachedConnection connection({.host = host, .port = 1});
    const Got got = Get(connection, {"key"});
    EXPECT_EQ(got.status.code(), Code::kIo);
    EXPECT_NE(got.status.text().find(std::string(host) + ":1: get: "), std::string::npos) << got.status.text();
  }
}

TEST(MemcachedConnection, LiesAreFailures) {
  const std::string much = std::to_string(uint64_t{1} << 40);
  for (const std::string& answer :
       {std::string("nonsense\r\n"), std::string("VALUE key 0 notanumber\r\nx\r\nEND\r\n"),
        "VALUE key 0 " + much + "\r\nxxxx", std::string("VALUE key 0 -5\r\nx\r\nEND\r\n"),
        std::string("VALUE other 0 1\r\nx\r\nEND\r\n"), "VALUE " + std::string(300, 'k') + " 0 1\r\nx\r\nEND\r\n",
        "VALUE key 0 1048577\r\n" + std::string(1 << 20, 'x'), std::string(100'000, 'V'),
        std::string("VALUE key 0 2\r\nabc\r\nEND\r\n"), std::string("VALUE key  1\r\nx\r\nEND\r\n"),
        std::string("VALUE key 0 3\r\nabc"), std::string("\0\0\0", 3), std::string("SERVER_ERROR x\r\n")}) {
    const LyingServer server(answer);
    MemcachedConnection connection(server.address());
    const Got got = Get(connection, {"key"}, kShort);
    EXPECT_FALSE(got.status.ok()) << answer;
    EXPECT_TRUE(got.values.empty()) << answer;
  }
}

// The second value was asked for first, and a value comes twice.
TEST(MemcachedConnection, ValuesOutOfOrderAreFailures) {
  for (const std::string& answer : {std::string("VALUE two 0 1\r\nx\r\nVALUE one 0 1\r\nx\r\nEND\r\n"),
                                    std::string("VALUE one 0 1\r\nx\r\nVALUE one 0 1\r\ny\r\nEND\r\n")}) {
    const LyingServer server(answer);
    MemcachedConnection connection(server.address());
    const Got got = Get(connection, {"one", "two"});
    EXPECT_FALSE(got.status.ok());
    EXPECT_EQ(got.values.size(), 1U);
  }
}

TEST(MemcachedConnection, AddKeepsWhatIsThere) {
  const testing::MemcachedServer server;
  MemcachedConnection connection(server.address());
  EXPECT_EQ(*connection.Add("key", Bytes("one"), In(kLong), {}), Kept::kYes);
  EXPECT_EQ(*connection.Add("key", Bytes("two"), In(kLong), {}), Kept::kExists);
  EXPECT_EQ(Get(connection, {"key"}).values[0], "one");
}

TEST(MemcachedConnection, AnInterruptEndsACallAndAllLaterOnes) {
  testing::MemcachedServer server;
  MemcachedConnection connection(server.address());
  ASSERT_TRUE(Get(connection, {"key"}).status.ok());
  server.Stop();
  std::thread caller([&] { EXPECT_EQ(Get(connection, {"key"}, std::chrono::hours(1)).status.code(), Code::kStopped); });
  connection.Interrupt();
  caller.join();
  EXPECT_EQ(Get(connection, {"key"}, std::chrono::hours(1)).status.code(), Code::kStopped);
}

// What a look-up that took too long has found is taken by the next call.
TEST(MemcachedConnection, ALookUpThatHangsFailsInTimeAndGoesOn) {
  const testing::MemcachedServer server;
  testing::HeldName name("node.test", {"127.0.0.1"});
  MemcachedConnection connection({.host = "node.test", .port = server.address().port});
  for (int i = 0; i < 3; ++i) {
    const Got got = Get(connection, {"key"}, kShort);
    EXPECT_EQ(got.status.code(), Code::kIo);
    EXPECT_NE(got.status.text().find(": get: no name server has given"), std::string::npos) << got.status.text();
  }
  name.Release();
  const auto kept = connection.Set("key", Bytes("value"), In(kLong), {});
  EXPECT_TRUE(kept.ok()) << kept.status().text();
  EXPECT_EQ(name.lookups(), 1);
}

// At 127.0.0.2, where no connection is answered: its queue is full, so the kernel drops what comes, as for a machine
// that is gone.
class DeafServer {
 public:
  explicit DeafServer(uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    address.sin_port = htons(port);
    const auto* const at = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(bind(socket_.get(), at, sizeof(address)), 0);
    EXPECT_EQ(listen(socket_.get(), 0), 0);
    EXPECT_EQ(connect(first_.get(), at, sizeof(address)), 0);
  }

 private:
  const UniqueFd socket_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const UniqueFd first_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

TEST(MemcachedConnection, TheNextAddressOfANameIsTriedInTime) {
  const testing::MemcachedServer server;
  const uint16_t port = server.address().port;
  const DeafServer deaf(port);
  MemcachedConnection gone({.host = "127.0.0.2", .port = port});
  EXPECT_EQ(Get(gone, {"key"}, kShort).status.code(), Code::kIo);
  testing::HeldName name("node.test", {"127.0.0.2", "127.0.0.1"});
  name.Release();
  MemcachedConnection connection({.host = "node.test", .port = port});
  const auto kept = connection.Set("key", Bytes("value"), In(std::chrono::seconds(4)), {});
  EXPECT_TRUE(kept.ok()) << kept.status().text();
}

TEST(MemcachedConnection, AnInterruptEndsACallThatLooksANameUp) {
  const testing::HeldName name("node.test", {"127.0.0.1"});
  MemcachedConnection connection({.host = "node.test", .port = 1});
  std::thread caller([&] { EXPECT_EQ(Get(connection, {"key"}, std::chrono::hours(1)).status.code(), Code::kStopped); });
  connection.Interrupt();
  caller.join();
}

}  // namespace
}  // namespace augur
