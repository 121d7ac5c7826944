// SPDX-License-Identifier: Apache-2.0
#include "http/retrying_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/fetch_now.h"
#include "unit/http/fault_server.h"
#include "unit/http/retrying_client_fixture.h"

namespace augur {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using Answer = FaultServer::Answer;
using End = FaultServer::End;
using Request = FaultServer::Request;

TEST_F(RetryingClientTest, TriesAgainWhatAServerTurnsAway) {
  const int codes[] = {503, 429, 500, 502, 504};
  Start([&](const Request& request) -> std::optional<Answer> {
    if (request.index < 5) return FaultServer::Code(codes[request.index], "<Code>SlowDown</Code>");
    return std::nullopt;
  });
  const HttpResponse response = FetchNow(*client_, Operation());
  EXPECT_TRUE(response.succeeded()) << response.status.text();
  EXPECT_EQ(memory_.text(), Wanted());
  EXPECT_EQ(counters().requests, 6u);
  EXPECT_EQ(counters().retries, 5u);
  EXPECT_EQ(counters().throttled, 2u);
  EXPECT_EQ(counters().failed, 0u);
  EXPECT_EQ(server_->connections(), 1u);
  EXPECT_EQ(server_->requests().back().headers.at("x-attempt"), "6");
}

TEST_F(RetryingClientTest, GivesUpAfterItsAttempts) {
  RetryOptions options = Fast();
  options.attempts_max = 3;
  Start([](const Request&) { return FaultServer::Code(503, "<Code>SlowDown</Code>"); }, options);
  const HttpResponse response = FetchNow(*client_, Operation());
  EXPECT_EQ(response.status.code(), Code::kIo);
  EXPECT_EQ(response.code, 503);
  EXPECT_THAT(response.status.text(), HasSubstr("503: <Code>SlowDown</Code>"));
  EXPECT_THAT(response.status.text(), HasSubstr("after 3 requests"));
  EXPECT_EQ(server_->requests().size(), 3u);
  EXPECT_EQ(counters().failed, 1u);
}

TEST_F(RetryingClientTest, DoesNotTryAgainWhatNoAttemptBrings) {
  const std::pair<int, Code> codes[] = {
      {403, Code::kPermission}, {404, Code::kNotFound}, {412, Code::kChanged}, {416, Code::kIo}, {301, Code::kIo}};
  size_t now = 0;
  Start([&](const Request& request) { return FaultServer::Code(codes[request.index].first); });
  for (; now < std::size(codes); ++now) {
    const HttpResponse response = FetchNow(*client_, Operation());
    EXPECT_EQ(response.status.code(), codes[now].second);
    EXPECT_THAT(response.status.text(), HasSubstr("GET " + url_ + ": the server answered"));
  }
  EXPECT_EQ(counters().requests, std::size(codes));
}

TEST_F(RetryingClientTest, TriesABrokenAnswerAgainOnANewConnection) {
  for (const End end : {End::kClose, End::kReset, End::kHang}) {
    client_.reset();
    Start([&](const Request& request) -> std::optional<Answer> {
      Answer answer = FaultServer::Range(request, object_);
      if (request.index != 1) return answer;
      answer.sent = 20'000;
      answer.end = end;
      return answer;
    });
    HttpOperation operation = Operation();
    if (end == End::kHang) operation.stall_max = milliseconds(300);
    EXPECT_TRUE(FetchNow(*client_, operation).succeeded());
    EXPECT_TRUE(FetchNow(*client_, operation).succeeded());
    EXPECT_EQ(memory_.text(), Wanted());
    const std::vector<Request> requests = server_->requests();
    // A machine that is slow may make a stall of its own.
    ASSERT_GE(requests.size(), 3u);
    EXPECT_NE(requests[1].connection, requests.back().connection);
    EXPECT_EQ(counters().requests, requests.size());
    EXPECT_EQ(counters().retries, requests.size() - 2);
    // A reset may take bytes with it that were on their way.
    EXPECT_GE(counters().bytes, 2 * kBytes + (end == End::kReset ? 0 : 20'000));
  }
}

TEST_F(RetryingClientTest, TriesAShortAnswerAgain) {
  Start([&](const Request& request) -> std::optional<Answer> {
    if (request.index > 0) return std::nullopt;
    return FaultServer::Code(206, object_.substr(1000, kBytes - 1));
  });
  EXPECT_TRUE(FetchNow(*client_, Operation()).succeeded());
  EXPECT_EQ(memory_.text(), Wanted());
  EXPECT_EQ(counters().retries, 1u);
}

TEST_F(RetryingClientTest, RefusesAServerWithoutRanges) {
  Start([&](const Request&) { return FaultServer::Code(200, object_); });
  const HttpResponse response = FetchNow(*client_, Operation());
  EXPECT_EQ(response.status.code(), Code::kUnsupported);
  EXPECT_EQ(response.code, 200);
  EXPECT_EQ(counters().requests, 1u);
}

TEST_F(RetryingClientTest, AsksItsJudge) {
  Start([&](const Request& request) -> std::optional<Answer> {
    if (request.index == 0) return FaultServer::Code(400, "ExpiredToken");
    return FaultServer::Code(404);
  });
  HttpOperation operation = Operation();
  operation.judge = [](const HttpResponse& response) -> HttpVerdict {
    if (response.body == "ExpiredToken") return {HttpVerdict::Kind::kAgain, {Code::kPermission, "expired"}};
    if (response.code == 404) return {HttpVerdict::Kind::kFailed, {Code::kCorrupt, "the shard is gone"}};
    return JudgeByCode(response);
  };
  const HttpResponse response = FetchNow(*client_, operation);
  EXPECT_EQ(response.status.code(), Code::kCorrupt);
  EXPECT_EQ(response.status.text(), "the shard is gone");
  EXPECT_EQ(counters().requests, 2u);
}

TEST_F(RetryingClientTest, PreparesEachAttempt) {
  Start([](const Request&) { return std::nullopt; });
  int calls = 0;
  HttpOperation operation = Operation();
  operation.prepare = [&, prepare = operation.prepare](int attempt) -> Result<HttpAttempt> {
    if (++calls <= 2) return Status{Code::kBusy, "the credentials are being renewed"};
    return prepare(attempt);
  };
  EXPECT_TRUE(FetchNow(*client_, operation).succeeded());
  EXPECT_EQ(calls, 3);
  operation.prepare = [](int) -> Result<HttpAttempt> { return Status{Code::kPermission, "no credentials"}; };
  EXPECT_EQ(FetchNow(*client_, operation).status.text(), "no credentials");
  EXPECT_EQ(counters().requests, 1u);
}

TEST_F(RetryingClientTest, GivesUpAServerThatNeverAnswers) {
  RetryOptions options = Fast();
  options.time_max = milliseconds(100);
  Start([](const Request&) { return Silence(); }, options);
  const HttpResponse response = FetchNow(*client_, Operation());  // its stall_max is 30 s
  EXPECT_EQ(response.status.code(), Code::kIo);
}

TEST_F(RetryingClientTest, TheEndIsTheEndOfAllOperations) {
  Start([this](const Request&) {
    server_->WaitForRelease();
    return FaultServer::Code(503);
  });
  std::atomic<int> stopped = 0;
  HttpOperation again = Operation();
  again.done = [&](const HttpResponse& response) { stopped += response.status.code() == Code::kStopped ? 1 : 0; };
  for (int i = 0; i < 40; ++i) {
    HttpOperation operation = Operation(/*urgent=*/i < 5);
    operation.into = {};
    operation.done = [&, client = client_.get()](const HttpResponse& response) {
      stopped += response.status.code() == Code::kStopped ? 1 : 0;
      client->Submit(again);
    };
    client_->Submit(std::move(operation));
  }
  server_->WaitForRequests(10);
  client_.reset();
  EXPECT_EQ(stopped, 80);
}

TEST_F(RetryingClientTest, EveryFaultAtOnceEndsInTheRightBytes) {
  RetryOptions options = Hedging();
  options.attempts_max = 1000;
  Start(
      [this](const Request& request) -> std::optional<Answer> {
        Answer answer = FaultServer::Range(request, object_);
        switch (request.index % 11) {
          case 1: return FaultServer::Code(503);
          case 3:
            answer.sent = 10'000;
            answer.end = End::kReset;
            return answer;
          case 5:
            answer.sent = 30'000;
            answer.end = End::kHang;
            return answer;
          case 6: answer.end = End::kClose; return answer;
          case 7:
            answer.code = 0;
            answer.end = End::kClose;
            return answer;
          case 9: return FaultServer::Code(206, object_.substr(1000, 40'000));
          default: return std::nullopt;
        }
      },
      options);
  constexpr size_t kOperations = 200;
  std::vector<std::unique_ptr<Fetch>> fetches;
  for (size_t i = 0; i < kOperations; ++i) {
    HttpOperation operation = Operation(/*urgent=*/i % 3 == 0);
    operation.stall_max = milliseconds(2000);
    operation.hedge_first = i % 3 == 1;
    fetches.push_back(Submit(std::move(operation)));
  }
  for (const auto& fetch : fetches) {
    const HttpResponse response = fetch->promise.Get();
    EXPECT_TRUE(response.succeeded()) << response.status.text();
    EXPECT_EQ(fetch->memory.text(), Wanted());
  }
  EXPECT_LE(counters().hedges, 1 + kOperations / 20);
  EXPECT_EQ(counters().requests, kOperations + counters().retries + counters().hedges);
}

}  // namespace
}  // namespace augur
