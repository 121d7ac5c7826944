// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "http/retrying_client.h"
#include "unit/http/fault_server.h"
#include "unit/http/http_fixture.h"

namespace augur {

// A client, and a server that answers it as a test says.
class RetryingClientTest : public testing::Test {
 protected:
  static constexpr size_t kBytes = 50'000;

  // An operation under way, with memory of its own.
  struct Fetch {
    BodyMemory memory{kBytes};
    ResponsePromise promise;
    uint64_t number = 0;  // what RetryingClient::Submit returned
  };

  // Delays of a test: nothing waits for what a user would.
  static RetryOptions Fast() {
    RetryOptions options;
    options.backoff.base = std::chrono::milliseconds(1);
    options.backoff.cap = std::chrono::milliseconds(5);
    options.hedging = false;
    return options;
  }
  static RetryOptions Hedging() {
    RetryOptions options = Fast();
    options.hedging = true;
    options.hedge.threshold_min = options.hedge.threshold_unknown = std::chrono::milliseconds(1);
    return options;
  }
  // Nothing comes, and the connection stays.
  static FaultServer::Answer Silence() {
    FaultServer::Answer answer;
    answer.code = 0;
    answer.end = FaultServer::End::kHang;
    return answer;
  }

  ~RetryingClientTest() override {
    if (server_ != nullptr) server_->Release();
    client_.reset();
  }

  // The server answers with the range, but for the requests for which `fault` has another answer.
  void Start(std::function<std::optional<FaultServer::Answer>(const FaultServer::Request&)> fault,
             RetryOptions options = Fast(), int port = 0) {
    server_ = std::make_unique<FaultServer>(
        [this, fault = std::move(fault)](const FaultServer::Request& request) {
          const std::optional<FaultServer::Answer> answer = fault(request);
          return answer ? *answer : FaultServer::Range(request, object_);
        },
        std::string(), std::string(), port);
    if (client_ != nullptr) return;  // whose URL stays
    url_ = server_->Url("/object");
    client_ = std::make_unique<RetryingClient>(*engine_, options);
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
  std::unique_ptr<Fetch> Submit(HttpOperation operation) {
    auto fetch = std::make_unique<Fetch>();
    operation.into = fetch->memory.span();
    operation.done = fetch->promise.Done();
    fetch->number = client_->Submit(std::move(operation));
    return fetch;
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

}  // namespace augur
