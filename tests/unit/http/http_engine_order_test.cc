// SPDX-License-Identifier: Apache-2.0
// When the engine starts, ends and cancels requests, and when it runs tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/fetch_now.h"
#include "http/http_engine.h"
#include "unit/http/fault_server.h"
#include "unit/http/http_engine_fixture.h"
#include "unit/http/http_fixture.h"

namespace augur {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using Answer = FaultServer::Answer;
using Request = FaultServer::Request;

TEST_F(HttpEngineTest, StartsUrgentOnesFirst) {
  FaultServer* waiting = nullptr;
  FaultServer server([&](const Request& request) {
    if (request.index == 0) waiting->WaitForRelease();
    return FaultServer::Code(200);
  });
  waiting = &server;
  const auto engine = MakeHttpEngine({.in_flight_max = 1});
  std::vector<ResponsePromise> promises(4);
  const char* paths[] = {"/first", "/other", "/urgent", "/second-urgent"};
  for (size_t i = 0; i < 4; ++i) {
    HttpRequest request;
    request.url = server.Url(paths[i]);
    request.urgent = i >= 2;
    request.done = promises[i].Done();
    engine->Submit(std::move(request));
    if (i == 0) server.WaitForRequests(1);
  }
  server.Release();
  std::vector<std::string> order;
  for (ResponsePromise& promise : promises) EXPECT_TRUE(promise.Get().succeeded());
  for (const Request& request : server.requests()) order.push_back(request.target);
  EXPECT_THAT(order, ElementsAre("/first", "/urgent", "/second-urgent", "/other"));
  EXPECT_EQ(server.connections(), 1u);
}

TEST_F(HttpEngineTest, CancelsWhatWaitsAndWhatIsInFlight) {
  FaultServer* waiting = nullptr;
  FaultServer server([&](const Request&) {
    waiting->WaitForRelease();
    return FaultServer::Code(200);
  });
  waiting = &server;
  const auto engine = MakeHttpEngine({.in_flight_max = 1});
  std::vector<ResponsePromise> promises(2);
  std::vector<uint64_t> numbers;
  for (ResponsePromise& promise : promises) {
    HttpRequest request;
    request.url = server.Url("/");
    request.done = promise.Done();
    numbers.push_back(engine->Submit(std::move(request)));
  }
  server.WaitForRequests(1);
  engine->Cancel(numbers[1]);
  EXPECT_EQ(promises[1].Get().status.code(), Code::kStopped);
  engine->Cancel(numbers[0]);
  EXPECT_EQ(promises[0].Get().status.code(), Code::kStopped);
  engine->Cancel(numbers[0]);  // no effect
  server.Release();
  HttpRequest request;
  request.url = server.Url("/");
  EXPECT_TRUE(FetchNow(*engine, request).succeeded());
}

TEST_F(HttpEngineTest, TheEndIsTheEndOfAllRequests) {
  FaultServer* waiting = nullptr;
  FaultServer server([&](const Request&) {
    waiting->WaitForRelease();
    return FaultServer::Code(200);
  });
  waiting = &server;
  auto engine = MakeHttpEngine({.in_flight_max = 2});
  std::atomic<int> stopped = 0;
  HttpRequest again;
  again.url = server.Url("/again");
  again.done = [&](const HttpResponse& response) { stopped += response.status.code() == Code::kStopped ? 1 : 0; };
  for (int i = 0; i < 5; ++i) {
    HttpRequest request;
    request.url = server.Url("/");
    request.done = [&, raw = engine.get()](const HttpResponse& response) {
      stopped += response.status.code() == Code::kStopped ? 1 : 0;
      raw->Submit(again);
    };
    engine->Submit(std::move(request));
  }
  server.WaitForRequests(2);
  engine.reset();
  EXPECT_EQ(stopped, 10);
  server.Release();
}

TEST_F(HttpEngineTest, TellsWhenAnAnswerBegins) {
  FaultServer* waiting = nullptr;
  FaultServer server([&](const Request&) {
    Answer answer = FaultServer::Code(200, "first");
    answer.rest = " rest";
    answer.pause = [&] { waiting->WaitForRelease(); };
    return answer;
  });
  waiting = &server;
  const auto engine = MakeHttpEngine();
  ResponsePromise promise;
  int began = 0;
  HttpRequest request;
  request.url = server.Url("/");
  request.began = [&] {
    ++began;
    server.Release();
  };
  request.done = promise.Done();
  engine->Submit(std::move(request));
  EXPECT_EQ(promise.Get().body, "first rest");
  EXPECT_EQ(began, 1);
}

TEST_F(HttpEngineTest, RunsTasksOnItsThreadInTheOrderOfTheirTime) {
  const auto engine = MakeHttpEngine();
  std::string order;
  std::promise<void> end;
  engine->RunAfter(milliseconds(0), [&] {
    EXPECT_TRUE(engine->OnThread());
    engine->RunAfter(milliseconds(200), [&] { order += "2"; });
    engine->RunAfter(milliseconds(400), [&] { end.set_value(); });
    engine->RunAfter(milliseconds(20), [&] { order += "1"; });
    engine->RunAfter(milliseconds(0), [&] { order += "0"; });
  });
  end.get_future().wait();
  EXPECT_EQ(order, "012");
  EXPECT_FALSE(engine->OnThread());
}

TEST_F(HttpEngineTest, ADroppedTaskIsNotRun) {
  const auto engine = MakeHttpEngine();
  std::string order;
  std::promise<void> end;
  HttpEngine::TaskId taken;  // by the thread, before it is dropped
  HttpEngine::TaskId run;
  auto held = std::make_shared<int>();
  const std::weak_ptr<int> memory = held;
  engine->RunAfter(milliseconds(0), [&] {
    engine->DropTask({});
    engine->DropTask(engine->RunAfter(milliseconds(0), [&] { order += "dropped at once"; }));
    taken = engine->RunAfter(milliseconds(100), [&order, held = std::move(held)] { order += "dropped"; });
    run = engine->RunAfter(milliseconds(0), [&] { order += "a"; });
    engine->RunAfter(milliseconds(20), [&] {
      engine->DropTask(taken);
      EXPECT_TRUE(memory.expired());
      engine->DropTask(run);  // has been run
      order += "b";
    });
    engine->RunAfter(milliseconds(200), [&] { end.set_value(); });
  });
  end.get_future().wait();
  EXPECT_EQ(order, "ab");
}

}  // namespace
}  // namespace augur
