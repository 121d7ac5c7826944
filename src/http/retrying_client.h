// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "http/http_counters.h"
#include "http/http_engine.h"
#include "http/http_operation.h"
#include "http/operation_scheduler.h"

namespace augur {

// RetryingClient brings requests to one server to an end, though single attempts fail, are slow, or are turned away.
// Its bets:
//   attempts  Up to attempts_max, or time_max from the first, whichever comes first, with full jitter between them
//             (Backoff). 429, 500, 502, 503 and 504 are tried again, and failures of connect, TLS and reset, a short
//             body, and a request that does not get on (TransferWatch). Where no reader waits, time_max is counted anew
//             from an attempt that broke off after bytes had moved: a line may be slow. After a failure of the
//             connection the next attempt opens a new one. Other codes end the operation, unless its judge says
//             otherwise.
//   hedging   A request without a first byte for some time, or not whole some time after it, is sent once more, on
//             another connection (HedgePolicy). The first whole answer is taken and the other request is cancelled.
//             Urgent operations and those of hedge_first come before others.
//   number    Requests in flight that are not urgent are limited by what makes the rate grow and by 503
//             (ConcurrencyLimit). Urgent ones are sent at once. Spare ones are sent while no other one waits.
//   link      While the server cannot be reached (LinkState) attempts do not count. Urgent operations try on until
//             time_max; once it has been away for that long, they are tried twice. Of the others one is tried in 5 s,
//             and the rest waits, up to time_max each.
// So each operation ends: an attempt with bytes is limited by TransferWatch, and all others by time_max.
//
// Threads: all methods are safe from any thread, and none waits but the destructor. Callbacks run on the engine's
// thread. The destructor ends all operations with kStopped, and returns after their `done`; so it must not run on that
// thread. The engine must outlive the client. Not for several servers: one that is down holds back the others.
class RetryingClient {
 public:
  // REQUIRES: 1 <= in_flight_min <= in_flight_max, 1 <= attempts_max.
  RetryingClient(HttpEngine& engine, const RetryOptions& options);
  ~RetryingClient();
  RetryingClient(const RetryingClient&) = delete;
  RetryingClient& operator=(const RetryingClient&) = delete;

  // Returns the operation's number, never 0.
  uint64_t Submit(HttpOperation operation);
  // Ends it with kStopped. No effect if it has ended.
  void Cancel(uint64_t number);
  // A reader waits for it from now on: it becomes urgent, and time_max is counted from now.
  void Expedite(uint64_t number);

  const HttpCounters& counters() const { return counters_; }
  bool OnThread() const { return engine_.OnThread(); }

 private:
  HttpEngine& engine_;
  HttpCounters counters_;
  std::atomic<uint64_t> last_number_{0};
  const std::shared_ptr<OperationScheduler> scheduler_;  // its timers hold it, too
};

}  // namespace augur
