// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "http/curl_multi.h"
#include "http/http_request.h"
#include "http/http_transfer.h"

namespace augur {

struct HttpEngineOptions {
  // Requests in flight, which is also the number of connections kept. Further ones wait in the engine, without a
  // maximum: who asks has memory for the answer, or waits for it.
  unsigned in_flight_max = 128;
  std::string ca_bundle = {};  // file of CA certificates in PEM; empty: the system's
  std::string user_agent = "augurfs/" AUGUR_VERSION;
};

// HttpEngine sends many HTTP/1.1 requests at once, by libcurl, on one thread (augur-http). It keeps connections open,
// follows no redirects, and obeys the proxy variables of the environment as libcurl does (HTTPS_PROXY, NO_PROXY, ...).
// It tries each request once: RetryingClient is the layer above it.
//
// Threads: all methods are safe from any thread and none waits for the network. The callbacks of requests and the tasks
// run on the engine's thread, one at a time; they must not block, and may call all methods.
//
// The memory of a request is not touched after its `done` was called. The destructor ends all requests: `done` of each
// is called with kStopped, also of those that a `done` still submits. Tasks that wait are dropped. It must not run on
// the engine's thread.
class HttpEngine {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned kInFlightMax = 4096;

  // kInvalid, kNotFound, kPermission: the CA bundle cannot be read, or in_flight_max is not 1 to kInFlightMax.
  // kNoSpace: no thread. kUnsupported: no libcurl with TLS.
  static Result<std::unique_ptr<HttpEngine>> Make(HttpEngineOptions options);
  ~HttpEngine();
  HttpEngine(const HttpEngine&) = delete;
  HttpEngine& operator=(const HttpEngine&) = delete;

  // Returns the request's number, never 0. It starts before those that wait and are not urgent, if it is.
  uint64_t Submit(HttpRequest request);
  // Ends a request: `done` is called with kStopped. Its connection is closed if it was sent. No effect if the request
  // has ended.
  void Cancel(uint64_t number);
  // A task that waits: by its time, and of one time by its number.
  struct TaskId {
    Clock::time_point due;
    uint64_t number = 0;  // never 0 of a task
    auto operator<=>(const TaskId&) const = default;
  };
  // Runs the task on the engine's thread after the delay, or as soon as the thread is free.
  TaskId RunAfter(std::chrono::milliseconds delay, std::function<void()> task);
  // Drops a task. No effect when it has begun, and of the default TaskId. REQUIRES: OnThread().
  void DropTask(const TaskId& task);
  bool OnThread() const { return thread_id_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

  // Bytes of bodies that came, since the start.
  uint64_t received_bytes() const { return received_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    uint64_t number = 0;
    HttpRequest request;
  };
  // What other threads have asked for since the last turn of the loop: one for each call.
  struct Inbox {
    std::vector<Waiting> submitted;
    std::vector<uint64_t> cancelled;
    std::vector<std::pair<TaskId, std::function<void()>>> tasks;
  };
  explicit HttpEngine(HttpEngineOptions options) : options_(std::move(options)) {}
  void Run();
  // False: the end of the engine has begun.
  bool TakeInbox();
  void RunDueTasks();
  void StartWaiting();
  void Start(Waiting waiting);
  // Adds to outcomes_ what became of requests.
  void CancelOne(uint64_t number);
  void CollectEnded();
  void EndStalled();
  void Finish(HttpTransfer& transfer, HttpOutcome outcome);
  void CallDone();
  void EndAll();
  // After a change of inbox_. Wakes the thread if it may be asleep.
  void Wake() AUGUR_REQUIRES(mu_);
  // A request waits, and there is room for it.
  bool MayStart() const;
  // False: there is something to start or in the inbox.
  bool MaySleep();
  std::chrono::milliseconds WaitTime() const;

  // Constant after Make.
  const HttpEngineOptions options_;
  std::unique_ptr<CurlMulti> multi_;  // used by the thread only, except Wake
  HttpTransfer::Settings settings_;
  std::thread thread_;

  // Own synchronization.
  std::atomic<uint64_t> received_bytes_{0};
  std::atomic<uint64_t> last_number_{0};  // of requests and tasks
  std::atomic<std::thread::id> thread_id_;

  // Used by the thread only.
  // One for each request over in_flight_max.
  std::deque<Waiting> urgent_;
  std::deque<Waiting> others_;
  std::unordered_map<uint64_t, std::unique_ptr<HttpTransfer>> active_;
  std::vector<std::unique_ptr<HttpTransfer>> idle_;
  std::map<TaskId, std::function<void()>> tasks_;  // one for each RunAfter that is not due
  std::vector<CurlMulti::Ended> ended_;
  std::vector<HttpOutcome> outcomes_;
  // Then the transfers of active_ are looked at, whether they get on.
  Clock::time_point next_look_ = Clock::time_point::max();

  Mutex mu_;
  Inbox inbox_ AUGUR_GUARDED_BY(mu_);
  bool woken_ AUGUR_GUARDED_BY(mu_) = false;  // the thread will look at inbox_ before it sleeps
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
