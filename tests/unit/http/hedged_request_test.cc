// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "http/fetch_now.h"
#include "http/retrying_client.h"
#include "unit/http/fault_server.h"
#include "unit/http/http_fixture.h"
#include "unit/http/retrying_client_fixture.h"

// A second request where the first one is slow.
namespace augur {
namespace {

using std::chrono::milliseconds;
using Answer = FaultServer::Answer;
using End = FaultServer::End;
using Request = FaultServer::Request;

// The first request of an operation, not its hedge, which may overtake it on the way.
bool IsFirst(const Request& request) { return request.headers.at("x-attempt") == "1"; }

TEST_F(RetryingClientTest, TakesTheHedgeWhereTheFirstRequestIsSlow) {
  Start(
      [this](const Request& request) -> std::optional<Answer> {
        if (!IsFirst(request)) {
          server_->WaitForRequests(2);
          return std::nullopt;
        }
        return Silence();
      },
      Hedging());
  const HttpResponse response = FetchNow(*client_, Operation());
  EXPECT_TRUE(response.succeeded()) << response.status.text();
  EXPECT_EQ(memory_.text(), Wanted());
  EXPECT_EQ(counters().hedges, 1u);
  EXPECT_EQ(counters().hedges_won, 1u);
  EXPECT_EQ(counters().retries, 0u);
  EXPECT_EQ(server_->requests().size(), 2u);
  EXPECT_EQ(server_->connections(), 2u);
}

TEST_F(RetryingClientTest, TakesTheHedgeWhereTheFirstAnswerStopsHalfWay) {
  RetryOptions options = Hedging();
  options.hedge.threshold_unknown = std::chrono::hours(1);
  options.hedge.whole_unknown = milliseconds(1);
  Start(
      [this](const Request& request) -> std::optional<Answer> {
        if (!IsFirst(request)) return std::nullopt;
        Answer answer = FaultServer::Range(request, object_);
        answer.sent = kBytes / 2;
        answer.end = End::kHang;
        return answer;
      },
      options);
  EXPECT_TRUE(FetchNow(*client_, Operation()).succeeded());
  EXPECT_EQ(memory_.text(), Wanted());
  EXPECT_EQ(counters().hedges, 1u);
  EXPECT_EQ(counters().hedges_won, 1u);
  EXPECT_EQ(counters().retries, 0u);
}

TEST_F(RetryingClientTest, TakesTheFirstRequestWhereItIsWholeFirst) {
  Start(
      [this](const Request& request) -> std::optional<Answer> {
        if (IsFirst(request)) {
          server_->WaitForRequests(2);
          return std::nullopt;
        }
        return Silence();
      },
      Hedging());
  EXPECT_TRUE(FetchNow(*client_, Operation()).succeeded());
  EXPECT_EQ(memory_.text(), Wanted());
  EXPECT_EQ(counters().hedges, 1u);
  EXPECT_EQ(counters().hedges_won, 0u);
}

TEST_F(RetryingClientTest, NeverWritesAfterTheEnd) {
  // Both bodies are under way: the first one, of wrong bytes, writes into the memory; the second one is whole.
  Start(
      [this](const Request& request) -> std::optional<Answer> {
        if (!IsFirst(request)) server_->WaitForRelease();
        if (!IsFirst(request) || request.headers.at("range") != "bytes=1000-50999") return std::nullopt;
        server_->WaitForRequests(2);
        Answer answer;
        answer.code = 206;
        answer.body = std::string(kBytes / 2, 'x');
        answer.rest = std::string(kBytes / 2, 'x');
        answer.pause = [this] {
          server_->Release();
          server_->WaitForRequests(3);
        };
        return answer;
      },
      Hedging());
  EXPECT_TRUE(FetchNow(*client_, Operation()).succeeded());
  EXPECT_EQ(memory_.text(), Wanted());
  EXPECT_EQ(counters().hedges_won, 1u);
  // The first request's server goes on. Another answer comes after that.
  BodyMemory other(kBytes);
  HttpOperation operation = Operation();
  operation.prepare = [this](int) -> Result<HttpAttempt> {
    return HttpAttempt{"GET", url_, {{"Range", "bytes=0-49999"}, {"X-Attempt", "1"}}};
  };
  operation.into = other.span();
  EXPECT_TRUE(FetchNow(*client_, operation).succeeded());
  EXPECT_EQ(other.text(), object_.substr(0, kBytes));
  EXPECT_EQ(memory_.text(), Wanted());
}

TEST_F(RetryingClientTest, AFailedHedgeLeavesTheFirstRequestAlone) {
  Start(
      [this](const Request& request) -> std::optional<Answer> {
        if (IsFirst(request)) {
          server_->WaitForRelease();
          return std::nullopt;
        }
        Answer answer = FaultServer::Code(503);
        answer.pause = [this] { server_->Release(); };
        return answer;
      },
      Hedging());
  EXPECT_TRUE(FetchNow(*client_, Operation()).succeeded());
  EXPECT_EQ(memory_.text(), Wanted());
  EXPECT_EQ(counters().hedges, 1u);
  EXPECT_EQ(counters().hedges_won, 0u);
  EXPECT_EQ(counters().retries, 0u);
}

TEST_F(RetryingClientTest, DoesNotHedgeAnUpload) {
  Start(
      [](const Request& request) -> std::optional<Answer> {
        // Ten times the hedge's threshold; a hedge would be a second request.
        if (request.index == 0) std::this_thread::sleep_for(milliseconds(10));
        return FaultServer::Code(200);
      },
      Hedging());
  HttpOperation operation;
  operation.prepare = [this](int) -> Result<HttpAttempt> { return HttpAttempt{"PUT", url_, {}}; };
  operation.body = std::as_bytes(std::span(object_));
  EXPECT_TRUE(FetchNow(*client_, operation).succeeded());
  EXPECT_EQ(counters().hedges, 0u);
  ASSERT_EQ(server_->requests().size(), 1u);
  EXPECT_EQ(server_->requests()[0].body, object_);
}

}  // namespace
}  // namespace augur
