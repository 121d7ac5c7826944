// SPDX-License-Identifier: Apache-2.0
#include "http/http_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "http/fetch_now.h"
#include "unit/http/fault_server.h"
#include "unit/http/http_engine_fixture.h"
#include "unit/http/http_fixture.h"

namespace augur {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;
using Answer = FaultServer::Answer;
using End = FaultServer::End;
using Request = FaultServer::Request;

HttpRequest RangeOf(const FaultServer& server, size_t first, BodyMemory& memory) {
  HttpRequest request;
  request.url = server.Url("/object?secret=1");
  request.headers = {
      {"Range", "bytes=" + std::to_string(first) + "-" + std::to_string(first + memory.span().size() - 1)}};
  request.into = memory.span();
  return request;
}

TEST_F(HttpEngineTest, BringsRangesIntoTheCallersMemory) {
  FaultServer server(ranges_);
  const auto engine = MakeHttpEngine();
  constexpr size_t kRequests = 300;
  std::vector<std::unique_ptr<BodyMemory>> memory;
  std::vector<ResponsePromise> promises(kRequests);
  for (size_t i = 0; i < kRequests; ++i) memory.push_back(std::make_unique<BodyMemory>(1000 + i * 10));
  const auto submit = [&](size_t begin) {
    for (size_t i = begin; i < kRequests; i += 3) {
      HttpRequest request = RangeOf(server, i * 3001, *memory[i]);
      request.done = promises[i].Done();
      engine->Submit(std::move(request));
    }
  };
  std::thread second(submit, 1);
  std::thread third(submit, 2);
  submit(0);
  second.join();
  third.join();
  uint64_t bytes = 0;
  for (size_t i = 0; i < kRequests; ++i) {
    const HttpResponse response = promises[i].Get();
    ASSERT_TRUE(response.status.ok()) << response.status.text();
    EXPECT_EQ(response.code, 206);
    EXPECT_EQ(response.body_bytes, memory[i]->span().size());
    EXPECT_EQ(response.body, "");
    EXPECT_THAT(response.Header("content-range"), HasSubstr("/1048576"));
    EXPECT_EQ(memory[i]->text(), object_.substr(i * 3001, memory[i]->span().size()));
    bytes += response.body_bytes;
  }
  EXPECT_EQ(engine->received_bytes(), bytes);
  EXPECT_LE(server.connections(), 128u);
}

TEST_F(HttpEngineTest, KeepsConnectionsUnlessANewOneIsAskedFor) {
  FaultServer server(ranges_);
  const auto engine = MakeHttpEngine();
  BodyMemory memory(100);
  EXPECT_TRUE(FetchNow(*engine, RangeOf(server, 0, memory)).connection_was_new);
  EXPECT_FALSE(FetchNow(*engine, RangeOf(server, 5, memory)).connection_was_new);
  HttpRequest request = RangeOf(server, 7, memory);
  request.new_connection = true;
  EXPECT_TRUE(FetchNow(*engine, request).connection_was_new);
  EXPECT_EQ(server.connections(), 2u);
}

TEST_F(HttpEngineTest, BringsABodyWithoutMemoryInTheResponse) {
  FaultServer server([](const Request&) { return FaultServer::Code(200, std::string(1000, 'x')); });
  const auto engine = MakeHttpEngine();
  HttpRequest request;
  request.url = server.Url("/manifest");
  EXPECT_EQ(FetchNow(*engine, request).body, std::string(1000, 'x'));
  request.body_max = 999;
  const HttpResponse response = FetchNow(*engine, request);
  EXPECT_EQ(response.status.code(), Code::kUnsupported);
  EXPECT_THAT(response.status.text(), HasSubstr("at most 999"));
}

TEST_F(HttpEngineTest, KeepsTheBodyOfAnErrorApart) {
  FaultServer server([](const Request&) { return FaultServer::Code(403, std::string(100'000, 'x')); });
  const auto engine = MakeHttpEngine();
  BodyMemory memory(100);
  const HttpResponse response = FetchNow(*engine, RangeOf(server, 0, memory));
  EXPECT_TRUE(response.status.ok()) << response.status.text();
  EXPECT_FALSE(response.succeeded());
  EXPECT_EQ(response.code, 403);
  EXPECT_EQ(response.body, std::string(65'536, 'x'));
  EXPECT_EQ(memory.text(), std::string(100, '\xEE'));
}

TEST_F(HttpEngineTest, RefusesABodyLongerThanItsMemory) {
  // A server without ranges sends the whole object.
  FaultServer server([this](const Request&) { return FaultServer::Code(200, object_); });
  const auto engine = MakeHttpEngine();
  BodyMemory memory(100);
  const HttpResponse response = FetchNow(*engine, RangeOf(server, 0, memory));
  EXPECT_EQ(response.status.code(), Code::kUnsupported);
  EXPECT_EQ(response.code, 200);
  EXPECT_THAT(response.status.text(), HasSubstr("1048576 bytes where at most 100"));
  EXPECT_EQ(memory.text(), std::string(100, '\xEE'));
}

TEST_F(HttpEngineTest, SaysWhatEndedARequest) {
  Answer answer = FaultServer::Code(206, object_.substr(0, 400));
  answer.length = 1000;
  const auto engine = MakeHttpEngine();
  for (const End end : {End::kClose, End::kReset, End::kHang}) {
    answer.end = end;
    FaultServer server([&](const Request&) { return answer; });
    BodyMemory memory(1000);
    HttpRequest request = RangeOf(server, 0, memory);
    if (end == End::kHang) request.stall_max = milliseconds(20);
    const HttpResponse response = FetchNow(*engine, request);
    EXPECT_EQ(response.status.code(), Code::kIo);
    if (end == End::kClose) {  // the others may come before the head was read
      EXPECT_EQ(response.code, 206);
    }
    EXPECT_THAT(response.status.text(), HasSubstr("GET " + server.Url("/object") + ": "));
    EXPECT_THAT(response.status.text(), Not(HasSubstr("secret")));
    if (end == End::kHang) {
      EXPECT_THAT(response.status.text(), HasSubstr("no byte came for 20 ms, after "));
    }
  }
}

TEST_F(HttpEngineTest, SaysThatNobodyListens) {
  std::string url;
  {
    FaultServer server(ranges_);
    url = server.Url("/object");
  }
  const auto engine = MakeHttpEngine();
  HttpRequest request;
  request.url = url;
  const HttpResponse response = FetchNow(*engine, request);
  EXPECT_EQ(response.status.code(), Code::kIo);
  EXPECT_EQ(response.code, 0);
  EXPECT_THAT(response.status.text(), HasSubstr("connect"));
}

TEST_F(HttpEngineTest, GoesOnWhenAServerClosesEachConnection) {
  FaultServer server([this](const Request& request) {
    Answer answer = FaultServer::Range(request, object_);
    answer.end = End::kClose;
    return answer;
  });
  const auto engine = MakeHttpEngine();
  BodyMemory memory(1000);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(FetchNow(*engine, RangeOf(server, i * 1000, memory)).succeeded());
    EXPECT_EQ(memory.text(), object_.substr(i * 1000, 1000));
  }
  EXPECT_EQ(server.connections(), 5u);
}

TEST_F(HttpEngineTest, SendsBodies) {
  FaultServer server([](const Request&) { return FaultServer::Code(200); });
  const auto engine = MakeHttpEngine();
  for (const std::string method : {"PUT", "POST"}) {
    for (const size_t bytes : {size_t{0}, size_t{100}, object_.size()}) {
      HttpRequest request;
      request.method = method;
      request.url = server.Url("/part");
      request.headers = {{"X-Empty", ""}};
      request.body = std::as_bytes(std::span(object_)).first(bytes);
      ASSERT_TRUE(FetchNow(*engine, request).succeeded());
      const Request seen = server.requests().back();
      EXPECT_EQ(seen.method, method);
      EXPECT_EQ(seen.body, object_.substr(0, bytes));
      EXPECT_EQ(seen.headers.at("content-length"), std::to_string(bytes));
      EXPECT_EQ(seen.headers.at("x-empty"), "");
      EXPECT_EQ(seen.headers.count("expect") + seen.headers.count("content-type"), 0u);
    }
  }
  EXPECT_EQ(server.connections(), 1u);
}

TEST_F(HttpEngineTest, SendsOtherMethodsAndThePathAsItStands) {
  FaultServer server(ranges_);
  const auto engine = MakeHttpEngine();
  HttpRequest request;
  request.url = server.Url("/a/../b%2fc?uploads=");
  for (const std::string method : {"HEAD", "DELETE", "GET"}) {
    request.method = method;
    request.body_max = object_.size();
    const HttpResponse response = FetchNow(*engine, request);
    EXPECT_EQ(response.code, 200) << response.status.text();
    EXPECT_EQ(response.Header("content-length"), "1048576");
    EXPECT_EQ(response.body_bytes, method == "HEAD" ? 0 : object_.size());
    EXPECT_EQ(server.requests().back().method, method);
    EXPECT_EQ(server.requests().back().target, "/a/../b%2fc?uploads=");
  }
}

TEST_F(HttpEngineTest, FollowsNoRedirect) {
  FaultServer server([](const Request&) {
    Answer answer = FaultServer::Code(301);
    answer.headers = "Location: /elsewhere\r\n";
    return answer;
  });
  const auto engine = MakeHttpEngine();
  HttpRequest request;
  request.url = server.Url("/");
  const HttpResponse response = FetchNow(*engine, request);
  EXPECT_EQ(response.code, 301);
  EXPECT_EQ(response.Header("location"), "/elsewhere");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(HttpEngineTest, RefusesWhatCannotBeSent) {
  const auto engine = MakeHttpEngine();
  HttpRequest request;
  for (const char* url : {"ftp://host/", "http://", "", "http://host/\r\nx: y"}) {
    request.url = url;
    EXPECT_EQ(FetchNow(*engine, request).status.code(), Code::kInvalid) << url;
  }
  request.url = "http://127.0.0.1/";
  for (const auto& [name, value] : HttpHeaders{{"A\r\nB", ""}, {"A", "b\nC: d"}, {"", "a"}, {"A: b", ""}}) {
    request.headers = {{name, value}};
    EXPECT_EQ(FetchNow(*engine, request).status.code(), Code::kInvalid) << name;
  }
}

TEST_F(HttpEngineTest, ObeysTheProxyOfTheEnvironmentUnlessItMustNot) {
  FaultServer proxy([](const Request&) { return FaultServer::Code(200, "by the proxy"); });
  FaultServer server([](const Request&) { return FaultServer::Code(200, "by the server"); });
  ::setenv("http_proxy", proxy.Url("").c_str(), 1);  // NOLINT(concurrency-mt-unsafe): no other thread reads it yet
  {
    const auto engine = MakeHttpEngine();
    HttpRequest request;
    request.url = server.Url("/token");
    EXPECT_EQ(FetchNow(*engine, request).body, "by the proxy");
    EXPECT_EQ(proxy.requests().back().target, server.Url("/token"));
    request.no_proxy_ever = true;
    EXPECT_EQ(FetchNow(*engine, request).body, "by the server");
  }
  ::unsetenv("http_proxy");  // NOLINT(concurrency-mt-unsafe)
}

TEST_F(HttpEngineTest, NamesACaBundleThatCannotBeUsed) {
  for (const std::string& path : {std::string("/nowhere/ca.pem"), testing::TempDir() + "no-certificate.pem"}) {
    if (path.starts_with(testing::TempDir())) std::ofstream(path) << "no certificate";
    const auto engine = HttpEngine::Make({.ca_bundle = path});
    ASSERT_FALSE(engine.ok());
    EXPECT_THAT(engine.status().text(), HasSubstr(path));
    EXPECT_THAT(engine.status().text(), HasSubstr("AWS_CA_BUNDLE"));
    std::filesystem::remove(path);
  }
}

TEST_F(HttpEngineTest, HasLimits) {
  for (const unsigned in_flight : {0u, 4097u}) {
    const auto engine = HttpEngine::Make({.in_flight_max = in_flight});
    ASSERT_FALSE(engine.ok());
    EXPECT_THAT(engine.status().text(), HasSubstr(std::to_string(in_flight)));
  }
}

}  // namespace
}  // namespace augur
