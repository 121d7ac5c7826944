// SPDX-License-Identifier: Apache-2.0
#include "http/retrying_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "http/fetch_now.h"
#include "unit/http/fault_server.h"
#include "unit/http/http_fixture.h"

namespace augur {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using Answer = FaultServer::Answer;
using End = FaultServer::End;
using Request = FaultServer::Request;

constexpr size_t kBytes = 50'000;

// The first request of an operation, not its hedge, which may overtake it on the way.
bool IsFirst(const Request& request) { return request.headers.at("x-attempt") == "1"; }

// Delays of a test: nothing waits for what a user would.
RetryOptions Fast() {
  RetryOptions options;
  options.backoff.base = milliseconds(1);
  options.backoff.cap = milliseconds(5);
  options.hedging = false;
  return options;
}

RetryOptions Hedging() {
  RetryOptions options = Fast();
  options.hedging = true;
  options.hedge.threshold_min = options.hedge.threshold_unknown = milliseconds(1);
  return options;
}

class RetryingClientTest : public testing::Test {
 protected:
  // The server answers with the range, but for the requests for which `fault` has another answer.
  void Start(std::function<std::optional<Answer>(const Request&)> fault, RetryOptions options = Fast(), int port = 0) {
    server_ = std::make_unique<FaultServer>(
        [this, fault = std::move(fault)](const Request& request) {
          const std::optional<Answer> answer = fault(request);
          return answer ? *answer : FaultServer::Range(request, object_);
        },
        std::string(), std::string(), port);
    if (client_ != nullptr) return;  // whose URL stays
    url_ = server_->Url("/object");
    client_ = std::make_unique<RetryingClient>(*engine_, options);
  }
  ~RetryingClientTest() override {
    if (server_ != nullptr) server_->Release();
    client_.reset();
  }

  HttpOperation Operation(bool urgent = true) {
    HttpOperation operation;
    operation.prepare = [this](int attempt) -> Result<HttpAttempt> {
      HttpAttempt made;
      made.url = url_;
      made.headers = {{"Range", "bytes=1000-" + std::to_string(1000 + kBytes - 1)},
                      {"X-Attempt", std::to_string(attempt)}};
      return made;
    };
    operation.into = memory_.span();
    operation.urgent = urgent;
    return operation;
  }
  std::string Wanted() const { return object_.substr(1000, kBytes); }
  // The gauges and counters are set before `done`.
  const HttpCounters& counters() const { return client_->counters(); }

  const std::string object_ = ObjectBytes(200'000);
  std::string url_;
  std::unique_ptr<HttpEngine> engine_ = MakeHttpEngine();
  std::unique_ptr<FaultServer> server_;
  BodyMemory memory_{kBytes};
  std::unique_ptr<RetryingClient> client_;
};

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

TEST_F(RetryingClientTest, TakesTheHedgeWhereTheFirstRequestIsSlow) {
  Start(
      [this](const Request& request) -> std::optional<Answer> {
        if (!IsFirst(request)) {
          server_->WaitForRequests(2);
          return std::nullopt;
        }
        Answer answer;
        answer.code = 0;
        answer.end = End::kHang;
        return answer;
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
        Answer answer;
        answer.code = 0;
        answer.end = End::kHang;
        return answer;
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

TEST_F(RetryingClientTest, LimitsRequestsInFlightButNotUrgentOnes) {
  RetryOptions options = Fast();
  options.in_flight_min = options.in_flight_start = options.in_flight_max = 2;
  Start(
      [this](const Request& request) -> std::optional<Answer> {
        if (request.headers.at("x-attempt") == "1") server_->WaitForRelease();
        return std::nullopt;
      },
      options);
  std::vector<std::unique_ptr<BodyMemory>> memory;
  std::vector<ResponsePromise> promises(7);
  const auto submit = [&](size_t i, bool urgent) {
    memory.push_back(std::make_unique<BodyMemory>(kBytes));
    HttpOperation operation = Operation(urgent);
    operation.into = memory.back()->span();
    operation.done = promises[i].Done();
    return client_->Submit(std::move(operation));
  };
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < 5; ++i) numbers.push_back(submit(i, false));
  for (size_t i = 5; i < 7; ++i) submit(i, true);
  server_->WaitForRequests(4);
  // Of those that wait one is cancelled and another one becomes urgent.
  client_->Cancel(numbers[3]);
  EXPECT_EQ(promises[3].Get().status.code(), Code::kStopped);
  EXPECT_EQ(server_->requests().size(), 4u);
  client_->Expedite(numbers[4]);
  server_->WaitForRequests(5);
  server_->Release();
  for (const size_t i : {0, 1, 2, 4, 5, 6}) {
    EXPECT_TRUE(promises[i].Get().succeeded());
    EXPECT_EQ(memory[i]->text(), Wanted());
  }
  EXPECT_EQ(server_->requests().size(), 6u);
}

// One request at a time: a spare one that was submitted first comes last.
TEST_F(RetryingClientTest, SparesAreSentAfterAllOthers) {
  RetryOptions options = Fast();
  options.in_flight_min = options.in_flight_start = options.in_flight_max = 1;
  Start(
      [this](const Request& request) -> std::optional<Answer> {
        if (request.index == 0) server_->WaitForRelease();
        return std::nullopt;
      },
      options);
  std::vector<std::unique_ptr<BodyMemory>> memory;
  std::vector<ResponsePromise> promises(5);
  for (size_t i = 0; i < promises.size(); ++i) {
    memory.push_back(std::make_unique<BodyMemory>(kBytes));
    HttpOperation operation = Operation(/*urgent=*/false);
    operation.prepare = [i, plain = operation.prepare](int attempt) {
      Result<HttpAttempt> made = plain(attempt);
      made->headers.emplace_back("X-Number", std::to_string(i));
      return made;
    };
    operation.spare = i == 1 || i == 2;
    operation.into = memory.back()->span();
    operation.done = promises[i].Done();
    client_->Submit(std::move(operation));
  }
  server_->WaitForRequests(1);
  server_->Release();
  for (ResponsePromise& promise : promises) EXPECT_TRUE(promise.Get().succeeded());
  std::string order;
  for (const Request& request : server_->requests()) order += request.headers.at("x-number");
  EXPECT_EQ(order, "03412");
}

TEST_F(RetryingClientTest, A503HalvesTheRequestsInFlight) {
  RetryOptions options = Fast();
  options.in_flight_start = 16;
  Start(
      [](const Request& request) -> std::optional<Answer> {
        if (request.index < 4) return FaultServer::Code(503);
        return std::nullopt;
      },
      options);
  EXPECT_EQ(counters().in_flight_limit, 16u);
  EXPECT_TRUE(FetchNow(*client_, Operation(/*urgent=*/false)).succeeded());
  EXPECT_EQ(counters().in_flight_limit, 8u);
}

TEST_F(RetryingClientTest, WaitsForALinkThatComesBack) {
  Start([](const Request&) { return std::nullopt; });
  const int port = server_->port();
  server_.reset();
  HttpOperation operation = Operation();
  ResponsePromise urgent;
  operation.done = urgent.Done();
  client_->Submit(operation);
  while (!counters().link_down) std::this_thread::yield();
  // Urgent attempts go on, more than attempts_max.
  while (counters().requests < 13) std::this_thread::yield();
  BodyMemory memory(kBytes);
  ResponsePromise other;
  operation = Operation(/*urgent=*/false);
  operation.into = memory.span();
  operation.done = other.Done();
  client_->Submit(operation);
  Start([](const Request&) { return std::nullopt; }, Fast(), port);
  EXPECT_TRUE(urgent.Get().succeeded());
  EXPECT_EQ(memory_.text(), Wanted());
  EXPECT_TRUE(other.Get().succeeded());
  EXPECT_EQ(memory.text(), Wanted());
  EXPECT_FALSE(counters().link_down);
}

TEST_F(RetryingClientTest, FailsWhenTheLinkStaysDown) {
  RetryOptions options = Fast();
  options.time_max = milliseconds(200);
  Start([](const Request&) { return std::nullopt; }, options);
  server_.reset();
  std::vector<ResponsePromise> promises(4);
  std::vector<std::unique_ptr<BodyMemory>> memory;
  for (size_t i = 0; i < promises.size(); ++i) {
    memory.push_back(std::make_unique<BodyMemory>(kBytes));
    HttpOperation operation = Operation(/*urgent=*/i % 2 == 0);
    operation.into = memory.back()->span();
    operation.done = promises[i].Done();
    client_->Submit(operation);
  }
  for (ResponsePromise& promise : promises) {
    const HttpResponse response = promise.Get();
    EXPECT_EQ(response.status.code(), Code::kIo);
    EXPECT_THAT(response.status.text(), HasSubstr("given up"));
  }
  EXPECT_EQ(counters().failed, 4u);
}

TEST_F(RetryingClientTest, DoesNotWaitAgainForALinkThatIsDownForLong) {
  RetryOptions options = Fast();
  options.time_max = milliseconds(200);
  Start([](const Request&) { return std::nullopt; }, options);
  const int port = server_->port();
  server_.reset();
  // The first two wait, until the link has been down for as long as one of them may.
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(FetchNow(*client_, Operation()).succeeded());
  EXPECT_THAT(FetchNow(*client_, Operation()).status.text(), HasSubstr("given up after 2 requests"));
  Start([](const Request&) { return std::nullopt; }, options, port);
  EXPECT_TRUE(FetchNow(*client_, Operation()).succeeded());
}

TEST_F(RetryingClientTest, GivesUpAServerThatNeverAnswers) {
  RetryOptions options = Fast();
  options.time_max = milliseconds(100);
  Start(
      [](const Request&) {
        Answer answer;
        answer.code = 0;
        answer.end = End::kHang;
        return answer;
      },
      options);
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
  std::vector<ResponsePromise> promises(kOperations);
  std::vector<std::unique_ptr<BodyMemory>> memory;
  for (size_t i = 0; i < kOperations; ++i) {
    memory.push_back(std::make_unique<BodyMemory>(kBytes));
    HttpOperation operation = Operation(/*urgent=*/i % 3 == 0);
    operation.into = memory.back()->span();
    operation.stall_max = milliseconds(2000);
    operation.hedge_first = i % 3 == 1;
    operation.done = promises[i].Done();
    client_->Submit(std::move(operation));
  }
  for (size_t i = 0; i < kOperations; ++i) {
    const HttpResponse response = promises[i].Get();
    EXPECT_TRUE(response.succeeded()) << response.status.text();
    EXPECT_EQ(memory[i]->text(), Wanted());
  }
  EXPECT_LE(counters().hedges, 1 + kOperations / 20);
  EXPECT_EQ(counters().requests, kOperations + counters().retries + counters().hedges);
}

}  // namespace
}  // namespace augur
