// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "augur/status.h"
#include "http/http_engine.h"
#include "http/http_operation.h"
#include "http/http_request.h"

namespace augur {

// RunningOperation is an HttpOperation between Submit and `done`: its requests in flight, of which there are two at the
// most, and what came of them. Used by the engine's thread only.
//
// The first request of an attempt writes into the caller's memory, its hedge into memory of its own. Both may come to
// their end; the first whole answer is taken and the other request is cancelled. The hedge's bytes are copied when the
// first request has ended, so that no byte is written after `done`.
class RunningOperation {
 public:
  using Time = std::chrono::steady_clock::time_point;

  enum class State : uint8_t { kWaiting, kInFlight, kPausing };
  enum class Which : uint8_t { kFirst, kHedge };
  enum class Outcome : uint8_t {
    kDecided,    // end the other request, then take the answer
    kOtherRuns,  // it failed, and the other request may still bring the answer
    kAgain,      // another attempt is needed, because of failure()
  };
  struct Sent {
    uint64_t request = 0;  // 0: not in flight
    Time at;
    bool began = false;
    Time began_at;  // if it has
  };

  RunningOperation(uint64_t number, HttpOperation operation, Time now);
  RunningOperation(const RunningOperation&) = delete;
  RunningOperation& operator=(const RunningOperation&) = delete;

  uint64_t number() const { return number_; }
  const HttpOperation& operation() const { return operation_; }
  bool urgent() const { return operation_.urgent; }
  bool spare() const { return operation_.spare; }

  // The next request, without its callbacks. The failures of HttpOperation::prepare.
  Result<HttpRequest> Prepare(Which which);
  // kHedge is only for requests without side effects, and not for spare ones. REQUIRES: the first request was prepared.
  bool may_be_hedged() const { return repeatable_ && !operation_.spare; }
  size_t hedge_bytes() const { return hedge_memory_ == nullptr ? 0 : operation_.into.size(); }

  void OnSent(Which which, uint64_t request, Time now);
  // Of one that is in flight.
  Sent& sent(Which which) { return sent_[static_cast<size_t>(which)]; }
  bool in_flight() const { return sent_[0].request != 0 || sent_[1].request != 0; }
  // Bytes come or go, and end within the stall_max of its request if they stop.
  bool is_moving() const { return sent_[0].began || sent_[1].began || (in_flight() && !operation_.body.empty()); }

  // The request has ended with this.
  Outcome OnResponse(Which which, HttpResponse response);
  // What the last failed request ended with, and an operation that gives up ends with.
  const HttpResponse& failure() const { return failure_; }
  void SetFailure(Status status);

  // From now on the outcome is this.
  void Decide(HttpResponse response);
  bool decided() const { return decided_; }
  // REQUIRES: decided().
  const Status& outcome() const { return outcome_.status; }
  // The hedge's answer was taken.
  bool hedge_won() const { return hedge_won_; }
  // Calls `done`. REQUIRES: decided() and not in_flight().
  void Complete();

  // A reader waits from now on, and the time that it waits is counted from now.
  void Expedite(Time now);

  State state = State::kWaiting;
  HttpEngine::TaskId hedge_timer;  // the last one that was set
  int counted = 0;                 // slots of the concurrency limit that it takes
  int failures = 0;                // attempts that count
  Time clock_start;                // of the time that the operation may take: of the first attempt
  int requests() const { return requests_; }
  // Of the last request, for people: "GET https://host/path".
  std::string Description() const;

 private:
  const uint64_t number_;
  HttpOperation operation_;
  std::array<Sent, 2> sent_;
  std::unique_ptr<std::byte[]> hedge_memory_;
  HttpResponse failure_;
  HttpResponse outcome_;  // if decided_
  std::string method_;    // of the last request
  std::string url_;
  int requests_ = 0;
  bool repeatable_ = false;
  bool decided_ = false;
  bool connection_failed_ = false;
  bool hedge_won_ = false;
};

}  // namespace augur
