// SPDX-License-Identifier: Apache-2.0
#include "pack/object_stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>

#include "unit/http/fault_server.h"
#include "unit/http/http_fixture.h"

namespace augur {
namespace {

constexpr size_t kBytes = 19 * ObjectStream::kPieceBytes / 2;  // ten pieces, the last of them half

class ObjectStreamTest : public testing::Test {
 protected:
  FaultServer::Answer Answer(const FaultServer::Request& request) {
    if (hangs_) return {.code = 0, .headers = {}, .body = {}, .pause = {}, .rest = {}, .end = FaultServer::End::kHang};
    if (request.headers.at("if-match") != etag_) return FaultServer::Code(412);
    FaultServer::Answer answer = FaultServer::Range(request, bytes_);
    answer.headers += "ETag: \"1\"\r\n";
    return answer;
  }
  std::shared_ptr<ObjectClient> Client() const {
    ObjectClientOptions options;
    options.s3.endpoint_url = server_.Url("");
    options.s3.region = "us-east-1";
    options.s3.no_sign_request = true;
    return std::make_shared<ObjectClient>(*ObjectUrl::Parse("s3://bucket/store"), options);
  }

  const std::string bytes_ = ObjectBytes(kBytes);
  std::atomic<bool> hangs_ = false;
  std::atomic<bool> stopped_ = false;
  std::string etag_ = "\"1\"";
  FaultServer server_{[this](const FaultServer::Request& request) { return Answer(request); }};
  BucketClient client_{Client(), [this] { return stopped_.load(); }};
  const std::shared_ptr<StoredObject> object_ = std::make_shared<StoredObject>("/a.tar", kBytes, "\"1\"");
};

TEST_F(ObjectStreamTest, HandsOutAllBytesAndKeepsThePieceBefore) {
  ObjectStream stream(client_, object_);
  std::span<const std::byte> before;
  uint64_t at = 0;
  for (;;) {
    const Result<std::span<const std::byte>> piece = stream.Next();
    ASSERT_TRUE(piece.ok()) << piece.status().text();
    if (!before.empty()) {
      ASSERT_EQ(std::memcmp(before.data(), bytes_.data() + at - before.size(), before.size()), 0);
    }
    if (piece->empty()) break;
    ASSERT_EQ(std::memcmp(piece->data(), bytes_.data() + at, piece->size()), 0);
    at += piece->size();
    before = *piece;
  }
  EXPECT_EQ(at, kBytes);
  std::string again(100, ' ');
  ASSERT_TRUE(stream.ReadAt(12'345, std::as_writable_bytes(std::span(again))).ok());
  EXPECT_EQ(again, bytes_.substr(12'345, 100));
}

TEST_F(ObjectStreamTest, AnotherObjectInItsPlaceIsTold) {
  etag_ = "\"2\"";
  ObjectStream stream(client_, object_);
  const Status status = stream.Next().status();
  EXPECT_EQ(status.code(), Code::kChanged);
  EXPECT_TRUE(status.text().starts_with("s3://bucket/a.tar: ")) << status.text();
}

TEST_F(ObjectStreamTest, EndsWithTheRun) {
  hangs_ = true;
  ObjectStream stream(client_, object_);
  stopped_ = true;
  EXPECT_EQ(stream.Next().status().code(), Code::kStopped);
}

}  // namespace
}  // namespace augur
