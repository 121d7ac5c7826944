// SPDX-License-Identifier: Apache-2.0
// A server that sends bytes slowly. Each step is far shorter than the limit, and all of them are longer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "http/fetch_now.h"
#include "http/http_engine.h"
#include "unit/http/fault_server.h"
#include "unit/http/http_fixture.h"

namespace augur {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// A byte each 20 ms, which is never silence.
TEST(SlowTransfer, AnAnswerThatTricklesIsGivenUp) {
  FaultServer server([](const FaultServer::Request&) {
    FaultServer::Answer answer;
    answer.rest = std::string(1000, 'x');
    answer.rest_pause = milliseconds(20);
    return answer;
  });
  const auto engine = MakeHttpEngine();
  HttpRequest request;
  request.url = server.Url("/object");
  request.stall_max = milliseconds(500);
  const HttpResponse response = FetchNow(*engine, request);
  EXPECT_EQ(response.status.code(), Code::kIo);
  EXPECT_THAT(response.status.text(), HasSubstr("00 ms, after "));
  EXPECT_LT(response.body_bytes, 1000U);
}

}  // namespace
}  // namespace augur
