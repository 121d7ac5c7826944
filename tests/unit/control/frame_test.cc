// SPDX-License-Identifier: Apache-2.0
#include "control/frame.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "unit/control/socket_pair.h"

namespace augur {
namespace {

using nlohmann::json;

class FrameTest : public ::testing::Test {
 protected:
  // Sends raw bytes and nothing more.
  void SendRaw(std::string_view bytes) {
    ASSERT_EQ(send(left_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    shutdown(left_.get(), SHUT_WR);
  }

  std::pair<UniqueFd, UniqueFd> pair_ = SocketPair();
  UniqueFd& left_ = pair_.first;
  UniqueFd& right_ = pair_.second;
  FrameSocket sender_{left_.get()};
  FrameSocket receiver_{right_.get()};
};

TEST_F(FrameTest, HeaderAndBodyArrive) {
  const std::string large(3 * kPieceBytesMax / 2, 'x');
  std::thread sending([&] {
    EXPECT_TRUE(sender_.SendHeader({{"command", "hint"}}).ok());
    EXPECT_TRUE(sender_.SendPiece("abc").ok());
    EXPECT_TRUE(sender_.SendPiece(large).ok());
    EXPECT_TRUE(sender_.EndBody().ok());
  });
  const Result<json> header = receiver_.ReceiveHeader();
  ASSERT_TRUE(header.ok()) << header.status().text();
  EXPECT_EQ(*header, json({{"command", "hint"}}));
  std::string body;
  std::string piece;
  while (true) {
    const Result<bool> more = receiver_.ReceivePiece(piece);
    ASSERT_TRUE(more.ok()) << more.status().text();
    if (!*more) break;
    EXPECT_LE(piece.size(), kPieceBytesMax);
    body += piece;
  }
  sending.join();
  EXPECT_TRUE(body == "abc" + large);
}

// The form on the wire, written out by hand.
TEST_F(FrameTest, BytesAreThoseOfTheDescription) {
  ASSERT_TRUE(sender_.SendHeader(json::object()).ok());
  ASSERT_TRUE(sender_.SendPiece("hi").ok());
  ASSERT_TRUE(sender_.EndBody().ok());
  shutdown(left_.get(), SHUT_WR);
  std::string seen(64, '\0');
  seen.resize(static_cast<size_t>(recv(right_.get(), seen.data(), seen.size(), MSG_WAITALL)));
  EXPECT_EQ(seen, std::string("AUGC\x02\0\0\0{}\x02\0\0\0hi\0\0\0\0", 20));
}

TEST_F(FrameTest, ByteThatJsonCannotSayIsReplaced) {
  ASSERT_TRUE(sender_.SendHeader({{"error", "a\xff"}}).ok());
  const Result<json> header = receiver_.ReceiveHeader();
  ASSERT_TRUE(header.ok());
  EXPECT_EQ((*header)["error"], "a\xef\xbf\xbd");
}

struct BadHeader {
  const char* name;
  std::string bytes;
  Code code;
};

class BadHeaderTest : public FrameTest, public ::testing::WithParamInterface<BadHeader> {};

TEST_P(BadHeaderTest, IsRefused) {
  SendRaw(GetParam().bytes);
  const Result<json> header = receiver_.ReceiveHeader();
  ASSERT_FALSE(header.ok());
  EXPECT_EQ(header.status().code(), GetParam().code) << header.status().text();
}

INSTANTIATE_TEST_SUITE_P(
    All, BadHeaderTest,
    ::testing::Values(BadHeader{"nothing", "", Code::kStopped}, BadHeader{"magic_cut", "AU", Code::kStopped},
                      BadHeader{"magic_wrong", "GET / HTTP/1.1\r\n", Code::kCorrupt},
                      BadHeader{"length_cut", std::string("AUGC\x02\0", 6), Code::kStopped},
                      BadHeader{"length_over_the_limit", std::string("AUGC\x01\0\x01\0{}", 10), Code::kCorrupt},
                      BadHeader{"length_huge", "AUGC\xff\xff\xff\xff{}", Code::kCorrupt},
                      BadHeader{"text_cut", std::string("AUGC\x05\0\0\0{}", 10), Code::kStopped},
                      BadHeader{"empty", std::string("AUGC\0\0\0\0", 8), Code::kCorrupt},
                      BadHeader{"no_json", std::string("AUGC\x02\0\0\0{x", 10), Code::kCorrupt},
                      BadHeader{"an_array", std::string("AUGC\x02\0\0\0[]", 10), Code::kCorrupt},
                      BadHeader{"deep", std::string("AUGC\x00\x10\0\0", 8) + std::string(4096, '['), Code::kCorrupt}),
    [](const auto& test) { return test.param.name; });

TEST_F(FrameTest, PieceOverTheLimitIsRefusedBeforeItIsTaken) {
  SendRaw(std::string("\x01\0\x04\0", 4));  // 256 KiB and one byte
  std::string piece;
  const Result<bool> more = receiver_.ReceivePiece(piece);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.status().code(), Code::kCorrupt);
  EXPECT_LE(piece.capacity(), kPieceBytesMax);
}

TEST_F(FrameTest, SendingToNobodyIsNoSignal) {
  right_.Reset();
  const Status status = sender_.SendHeader(json::object());
  EXPECT_EQ(status.code(), Code::kStopped) << status.text();
}

}  // namespace
}  // namespace augur
