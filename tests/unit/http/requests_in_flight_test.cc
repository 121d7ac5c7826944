// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/fetch_now.h"
#include "http/retrying_client.h"
#include "unit/http/fault_server.h"
#include "unit/http/retrying_client_fixture.h"

// How many requests are under way at once, and which one is sent next.
namespace augur {
namespace {

using Answer = FaultServer::Answer;
using Request = FaultServer::Request;

TEST_F(RetryingClientTest, LimitsRequestsInFlightButNotUrgentOnes) {
  RetryOptions options = Fast();
  options.in_flight_min = options.in_flight_start = options.in_flight_max = 2;
  Start(
      [this](const Request& request) -> std::optional<Answer> {
        if (request.headers.at("x-attempt") == "1") server_->WaitForRelease();
        return std::nullopt;
      },
      options);
  std::vector<std::unique_ptr<Fetch>> fetches;
  for (size_t i = 0; i < 7; ++i) fetches.push_back(Submit(Operation(/*urgent=*/i >= 5)));
  server_->WaitForRequests(4);
  // Of those that wait one is cancelled and another one becomes urgent.
  client_->Cancel(fetches[3]->number);
  EXPECT_EQ(fetches[3]->promise.Get().status.code(), Code::kStopped);
  EXPECT_EQ(server_->requests().size(), 4u);
  client_->Expedite(fetches[4]->number);
  server_->WaitForRequests(5);
  server_->Release();
  for (const size_t i : {0, 1, 2, 4, 5, 6}) {
    EXPECT_TRUE(fetches[i]->promise.Get().succeeded());
    EXPECT_EQ(fetches[i]->memory.text(), Wanted());
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
  std::vector<std::unique_ptr<Fetch>> fetches;
  for (size_t i = 0; i < 5; ++i) {
    HttpOperation operation = Operation(/*urgent=*/false);
    operation.prepare = [i, plain = operation.prepare](int attempt) {
      Result<HttpAttempt> made = plain(attempt);
      made->headers.emplace_back("X-Number", std::to_string(i));
      return made;
    };
    operation.spare = i == 1 || i == 2;
    fetches.push_back(Submit(std::move(operation)));
  }
  server_->WaitForRequests(1);
  server_->Release();
  for (const auto& fetch : fetches) EXPECT_TRUE(fetch->promise.Get().succeeded());
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

}  // namespace
}  // namespace augur
