// SPDX-License-Identifier: Apache-2.0
#include "control/control_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "control/control_client.h"
#include "unit/control/socket_pair.h"

namespace augur {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class ControlServerTest : public ::testing::Test {
 protected:
  void Start(std::chrono::milliseconds silence_max = ControlServer::kSilenceMax) {
    Result<ControlSocket> socket = ControlSocket::Listen({folder_.path()});
    ASSERT_TRUE(socket.ok()) << socket.status().text();
    std::map<std::string, ControlHandler, std::less<>> handlers;
    handlers["echo"] = [](const json& request, const ControlBody& body) -> Result<ControlReply> {
      ControlReply reply;
      reply.header["said"] = request.value("say", json());
      std::string piece;
      while (true) {
        AUGUR_TRY_ASSIGN(more, body(piece));
        if (!more) return reply;
        reply.body += piece;
      }
    };
    handlers["count"] = [](const json&, const ControlBody& body) -> Result<ControlReply> {
      ControlReply reply;
      uint64_t bytes = 0;
      std::string piece;
      while (true) {
        AUGUR_TRY_ASSIGN(more, body(piece));
        if (!more) break;
        bytes += piece.size();
      }
      reply.header["bytes"] = bytes;
      return reply;
    };
    handlers["first"] = [](const json&, const ControlBody& body) -> Result<ControlReply> {
      std::string piece;
      AUGUR_TRY_ASSIGN(more, body(piece));
      return Status(Code::kInvalid, more ? "line 1: no such file" : "nothing");
    };
    handlers["wait"] = [this](const json&, const ControlBody&) -> Result<ControlReply> {
      at_work_ = true;
      go_on_.get_future().wait();
      return ControlReply{};
    };
    handlers["large"] = [](const json&, const ControlBody&) -> Result<ControlReply> {
      return ControlReply{.header = json::object(), .body = std::string(kAnswerBytesMax, 'x')};
    };
    Result<std::unique_ptr<ControlServer>> server =
        ControlServer::Start(std::move(socket).value(), std::move(handlers), silence_max);
    ASSERT_TRUE(server.ok()) << server.status().text();
    server_ = std::move(server).value();
  }

  Result<ControlAnswer> Ask(const json& request, const ControlSource& body = nullptr) {
    return AskDaemon({.path = server_->path(), .owner = geteuid()}, request, body);
  }

  // The same; a place becomes free a little after its client has got the answer, or has gone.
  Result<ControlAnswer> AskUntilServed(const json& request) {
    Result<ControlAnswer> answer = Ask(request);
    while (answer.status().code() == Code::kBusy) answer = Ask(request);
    return answer;
  }

  // A client that has been greeted, so that it holds a place, and says no more.
  UniqueFd Hanging() {
    UniqueFd fd = ConnectTo(server_->path());
    EXPECT_TRUE(fd.valid());
    FrameSocket frames(fd.get());
    const Result<json> greeting = frames.ReceiveHeader();
    EXPECT_TRUE(greeting.ok()) << greeting.status().text();
    return fd;
  }

  std::promise<void> go_on_;
  std::atomic<bool> at_work_ = false;
  ScratchFolder folder_;
  std::unique_ptr<ControlServer> server_;
};

// Gives these pieces.
ControlSource Pieces(std::vector<std::string> pieces) {
  return [pieces = std::move(pieces), next = size_t{0}](std::string& piece) mutable -> Result<bool> {
    if (next == pieces.size()) return false;
    piece = pieces[next++];
    return true;
  };
}

TEST_F(ControlServerTest, AnswersWithHeaderAndBody) {
  Start();
  const std::string large(kPieceBytesMax + 1, 'x');
  const Result<ControlAnswer> answer =
      Ask({{"command", "echo"}, {"say", "hello"}}, Pieces({"a", "", large, std::string("\0b", 2)}));
  ASSERT_TRUE(answer.ok()) << answer.status().text();
  EXPECT_EQ(answer->header["said"], "hello");
  EXPECT_EQ(answer->header["ok"], true);
  EXPECT_TRUE(answer->body == "a" + large + std::string("\0b", 2));
}

TEST_F(ControlServerTest, ReportsFailuresWithTheirCode) {
  Start();
  // The handler refuses the first line of an endless order: the client must not wait until all of it is sent.
  const Result<ControlAnswer> refused = Ask({{"command", "first"}}, [](std::string& piece) -> Result<bool> {
    piece.assign(kPieceBytesMax, 'x');
    return true;
  });
  EXPECT_EQ(refused.status().code(), Code::kInvalid);
  EXPECT_EQ(refused.status().text(), "line 1: no such file");
  const Result<ControlAnswer> unknown = Ask({{"command", "fly"}});
  EXPECT_EQ(unknown.status().code(), Code::kUnsupported);
  EXPECT_THAT(unknown.status().text(), HasSubstr("'fly'"));
  EXPECT_EQ(Ask({{"say", "x"}}).status().code(), Code::kInvalid);
  EXPECT_EQ(Ask({{"command", 7}}).status().code(), Code::kInvalid);
  // It is echoed, and the answer must fit into a header all the same.
  EXPECT_EQ(Ask({{"command", std::string(60'000, '\x01').substr(0, 10'000)}}).status().code(), Code::kUnsupported);
  EXPECT_EQ(Ask({{"command", std::string(60'000, 'x')}}).status().code(), Code::kUnsupported);
}

TEST_F(ControlServerTest, FailureOfTheSourceIsTheClientsOwn) {
  Start();
  const Result<ControlAnswer> answer =
      Ask({{"command", "count"}}, [](std::string&) -> Result<bool> { return Status(Code::kIo, "order.txt: broken"); });
  EXPECT_EQ(answer.status().text(), "order.txt: broken");
}

TEST_F(ControlServerTest, TakesLongBodiesPieceByPiece) {
  Start();
  uint64_t left = 64 << 20;
  const Result<ControlAnswer> answer = Ask({{"command", "count"}}, [&left](std::string& piece) -> Result<bool> {
    piece.assign(std::min<uint64_t>(left, 100'000), 'x');
    left -= piece.size();
    return !piece.empty();
  });
  ASSERT_TRUE(answer.ok()) << answer.status().text();
  EXPECT_EQ(answer->header["bytes"], 64 << 20);
}

// Nothing is asked of a daemon that is not the mount's own.
TEST_F(ControlServerTest, AnotherUsersDaemonIsNotAsked) {
  Start();
  const uid_t other = geteuid() + 1;
  bool sent = false;
  const Result<ControlAnswer> answer =
      AskDaemon({.path = server_->path(), .owner = other}, {{"command", "echo"}}, [&](std::string&) -> Result<bool> {
        sent = true;
        return false;
      });
  EXPECT_EQ(answer.status().code(), Code::kPermission);
  EXPECT_THAT(answer.status().text(), HasSubstr("the mount is user " + std::to_string(other) + "'s"));
  EXPECT_FALSE(sent);
  EXPECT_TRUE(AskDaemon({.path = server_->path(), .owner = 0}, {{"command", "echo"}}, nullptr).ok())
      << "root mounts for others";
}

TEST_F(ControlServerTest, FailuresHoldNoCommandForATerminal) {
  Start();
  const Result<ControlAnswer> unknown = Ask({{"command", "\x1b[2J\nall is well"}});
  EXPECT_EQ(unknown.status().code(), Code::kUnsupported);
  EXPECT_EQ(unknown.status().text().find_first_of("\x1b\n"), std::string::npos) << unknown.status().text();
}

TEST_F(ControlServerTest, NobodyThereIsSaid) {
  Start();
  const std::string path = server_->path();
  server_.reset();
  EXPECT_EQ(access(path.c_str(), F_OK), -1);
  const Result<ControlAnswer> answer = AskDaemon({.path = path, .owner = geteuid()}, {{"command", "echo"}}, nullptr);
  EXPECT_EQ(answer.status().code(), Code::kNotFound) << answer.status().text();
}

// Who is led to a socket that is not ours (the mount's owner says which one) gives nothing away.
TEST_F(ControlServerTest, ClientSaysNothingToAnotherProgram) {
  const Result<ControlSocket> socket = ControlSocket::Listen({folder_.path()});
  ASSERT_TRUE(socket.ok());
  std::string seen;
  std::thread program([&] {
    UniqueFd fd;
    while (!fd.valid()) fd.Reset(accept4(socket->fd(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_EQ(send(fd.get(), "220 mail.example ESMTP\r\n", 24, MSG_NOSIGNAL), 24);
    shutdown(fd.get(), SHUT_WR);
    char byte = 0;
    while (recv(fd.get(), &byte, 1, 0) == 1) seen.push_back(byte);
  });
  const Result<ControlAnswer> answer =
      AskDaemon({.path = socket->path(), .owner = geteuid()}, {{"command", "echo"}}, nullptr);
  EXPECT_EQ(answer.status().code(), Code::kCorrupt);
  program.join();
  EXPECT_EQ(seen, "");
}

TEST_F(ControlServerTest, ClientThatHangsHoldsUpNobody) {
  Start();
  std::vector<UniqueFd> hanging;
  for (size_t i = 0; i + 1 < ControlServer::kConnectionsMax; ++i) hanging.push_back(Hanging());
  // One that has sent half of a request, and one that does not take its answer.
  ASSERT_EQ(send(hanging[0].get(), "AUGC\x10", 5, MSG_NOSIGNAL), 5);
  FrameSocket frames(hanging[1].get());
  ASSERT_TRUE(frames.SendHeader({{"command", "large"}}).ok());
  for (int i = 0; i < 20; ++i) {
    const Result<ControlAnswer> answer = AskUntilServed({{"command", "echo"}});
    ASSERT_TRUE(answer.ok()) << answer.status().text();
  }
  server_.reset();  // ends although they are there still
  char byte = 0;
  EXPECT_LE(recv(hanging[2].get(), &byte, 1, 0), 0);
}

TEST_F(ControlServerTest, TooManyAreToldSo) {
  Start();
  std::vector<UniqueFd> hanging;
  for (size_t i = 0; i < ControlServer::kConnectionsMax; ++i) hanging.push_back(Hanging());
  const Result<ControlAnswer> refused = Ask({{"command", "echo"}});
  EXPECT_EQ(refused.status().code(), Code::kBusy) << refused.status().text();
  hanging.pop_back();
  const Result<ControlAnswer> answer = AskUntilServed({{"command", "echo"}});
  EXPECT_TRUE(answer.ok()) << answer.status().text();
}

TEST_F(ControlServerTest, TheLongestSilentMakesRoom) {
  Start(std::chrono::milliseconds(0));
  std::vector<UniqueFd> hanging;
  for (size_t i = 0; i < 3 * ControlServer::kConnectionsMax; ++i) hanging.push_back(Hanging());
  char byte = 0;
  EXPECT_LE(recv(hanging[0].get(), &byte, 1, 0), 0);  // cut off
  EXPECT_TRUE(Ask({{"command", "echo"}}).ok());
}

// A handler at work is no silent client.
TEST_F(ControlServerTest, WorkIsNotCutOff) {
  Start(std::chrono::milliseconds(0));
  auto working = std::async(std::launch::async, [this] { return Ask({{"command", "wait"}}); });
  while (!at_work_) std::this_thread::yield();  // until then it is silent
  for (size_t i = 0; i < 3 * ControlServer::kConnectionsMax; ++i) EXPECT_TRUE(Ask({{"command", "echo"}}).ok());
  go_on_.set_value();
  const Result<ControlAnswer> answer = working.get();
  EXPECT_TRUE(answer.ok()) << answer.status().text();
}

// Random bytes, random cuts of a right request, random changes in it: the server stays, and answers the next.
TEST_F(ControlServerTest, OutlivesMalformedRequests) {
  Start();
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string text = R"({"command":"echo","say":"hello"})";
  std::string right = "AUGC" + std::string(1, static_cast<char>(text.size())) + std::string(3, '\0') + text;
  right += std::string("\x03\0\0\0abc\0\0\0\0", 11);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = right;
    switch (random() % 4) {
      case 0:
        bytes.resize(random() % 200);
        for (char& byte : bytes) byte = static_cast<char>(random());
        break;
      case 1: bytes.resize(random() % bytes.size()); break;
      case 2:
        for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
        break;
      default: bytes.insert(random() % bytes.size(), 1, static_cast<char>(random())); break;
    }
    UniqueFd fd = ConnectTo(server_->path());
    ASSERT_TRUE(fd.valid());
    // It may have been refused (all places taken), or cut off.
    (void)!send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (random() % 2 == 0) {
      shutdown(fd.get(), SHUT_WR);
      std::array<char, 4096> rest;
      while (recv(fd.get(), rest.data(), rest.size(), 0) > 0) continue;
    }
  }
  const Result<ControlAnswer> answer = AskUntilServed({{"command", "echo"}, {"say", 1}});
  ASSERT_TRUE(answer.ok()) << answer.status().text();
  EXPECT_EQ(answer->header["said"], 1);
}

}  // namespace
}  // namespace augur
