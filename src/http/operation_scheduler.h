// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>

#include "augur/status.h"
#include "http/backoff.h"
#include "http/concurrency_limit.h"
#include "http/hedge_policy.h"
#include "http/http_counters.h"
#include "http/http_engine.h"
#include "http/http_operation.h"
#include "http/link_state.h"
#include "http/running_operation.h"

namespace augur {

struct RetryOptions {
  int attempts_max = 10;                       // AWS_MAX_ATTEMPTS, by the caller
  std::chrono::milliseconds time_max{60'000};  // io-timeout
  Backoff backoff;
  // Of requests that are not urgent (ConcurrencyLimit). The engine should have room for more: urgent ones and hedges.
  int in_flight_min = 4;
  int in_flight_start = 16;
  int in_flight_max = 64;
  bool hedging = true;
  HedgePolicy::Rule hedge;
  size_t hedge_bytes_max = 64 << 20;  // of memory for hedges; without room there is no hedge
};

// OperationScheduler decides which requests a RetryingClient sends when. It lives on the thread of the engine, which
// runs its timers and calls all of its methods, so that it needs no lock. RetryingClient has the rules.
class OperationScheduler : public std::enable_shared_from_this<OperationScheduler> {
 public:
  OperationScheduler(HttpEngine& engine, const RetryOptions& options, HttpCounters& counters);
  OperationScheduler(const OperationScheduler&) = delete;
  OperationScheduler& operator=(const OperationScheduler&) = delete;

  void Submit(uint64_t number, HttpOperation operation);
  void Cancel(uint64_t number);
  void Expedite(uint64_t number);
  // Ends all operations with kStopped, also those that are still submitted. `ended` is called after their `done`.
  void End(std::function<void()> ended);

 private:
  using Clock = HttpEngine::Clock;
  using State = RunningOperation::State;
  using Which = RunningOperation::Which;

  RunningOperation* Find(uint64_t number);
  void Enqueue(RunningOperation& operation, bool first);
  // Sends what may be sent.
  void Pump();
  std::deque<uint64_t>& QueueOf(const RunningOperation& operation);
  RunningOperation* TakeWaiting(std::deque<uint64_t>& queue);
  // Sends those of a queue that the limit and the link allow. False: some still wait.
  bool PumpLimited(std::deque<uint64_t>& queue);
  void Send(RunningOperation& operation);
  void SendHedge(RunningOperation& operation);
  void SendRequest(RunningOperation& operation, Which which, HttpRequest request);

  void OnBegan(uint64_t number, Which which);
  void OnDone(uint64_t number, Which which, HttpResponse response);
  // The first byte of the first request (`began`: the last one) has not come in time.
  void OnHedgeDue(uint64_t number, uint64_t request, bool began);
  void ArmHedge(RunningOperation& operation);

  void Retry(RunningOperation& operation, bool no_answer);
  void Resume(uint64_t number, int requests);
  void GiveUp(RunningOperation& operation);
  void Decide(RunningOperation& operation, HttpResponse response);
  // Cancels the requests in flight of a decided operation; without any, completes it.
  void Finish(RunningOperation& operation);
  void Uncount(RunningOperation& operation);
  void NoteNoAnswer(const std::string& cause);

  void StartTicking();
  void Tick();
  bool IsLimited() const { return !(others_.empty() && spare_.empty()) && counted_ >= limit_.value(); }
  // Calls ended_, unless a `done` has submitted something meanwhile.
  void EndSoon();
  bool IsOverdue(const RunningOperation& operation, Clock::time_point now) const;

  HttpEngine& engine_;
  const RetryOptions options_;
  HttpCounters& counters_;

  std::unordered_map<uint64_t, std::unique_ptr<RunningOperation>> operations_;
  // One for each time that an operation was queued. Numbers, also of operations that do not wait any more: these are
  // passed over.
  std::deque<uint64_t> urgent_;
  std::deque<uint64_t> others_;
  std::deque<uint64_t> spare_;
  ConcurrencyLimit limit_;
  HedgePolicy hedges_;
  LinkState link_;
  std::minstd_rand random_{std::random_device{}()};
  int counted_ = 0;       // slots of the requests in flight that the limit holds back
  bool limited_ = false;  // requests waited for the limit after the last tick
  size_t hedge_bytes_ = 0;
  uint64_t tick_bytes_ = 0;  // of the engine at the last tick
  bool ticking_ = false;
  uint64_t submits_ = 0;
  bool ending_ = false;
  std::function<void()> ended_;
};

}  // namespace augur
