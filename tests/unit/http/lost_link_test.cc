// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "http/fetch_now.h"
#include "http/retrying_client.h"
#include "unit/http/fault_server.h"
#include "unit/http/retrying_client_fixture.h"

// The server cannot be reached for a while, or for good.
namespace augur {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using Request = FaultServer::Request;

TEST_F(RetryingClientTest, WaitsForALinkThatComesBack) {
  Start([](const Request&) { return std::nullopt; });
  const int port = server_->port();
  server_.reset();
  const std::unique_ptr<Fetch> urgent = Submit(Operation());
  while (!counters().link_down) std::this_thread::yield();
  // Urgent attempts go on, more than attempts_max.
  while (counters().requests < 13) std::this_thread::yield();
  const std::unique_ptr<Fetch> other = Submit(Operation(/*urgent=*/false));
  Start([](const Request&) { return std::nullopt; }, Fast(), port);
  for (Fetch* fetch : {urgent.get(), other.get()}) {
    EXPECT_TRUE(fetch->promise.Get().succeeded());
    EXPECT_EQ(fetch->memory.text(), Wanted());
  }
  EXPECT_FALSE(counters().link_down);
}

TEST_F(RetryingClientTest, FailsWhenTheLinkStaysDown) {
  RetryOptions options = Fast();
  options.time_max = milliseconds(200);
  Start([](const Request&) { return std::nullopt; }, options);
  server_.reset();
  std::vector<std::unique_ptr<Fetch>> fetches;
  for (size_t i = 0; i < 4; ++i) fetches.push_back(Submit(Operation(/*urgent=*/i % 2 == 0)));
  for (const auto& fetch : fetches) {
    const HttpResponse response = fetch->promise.Get();
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

}  // namespace
}  // namespace augur
