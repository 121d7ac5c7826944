// SPDX-License-Identifier: Apache-2.0
#include "http/running_operation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace augur {

RunningOperation::RunningOperation(uint64_t number, HttpOperation operation, Time now)
    : clock_start(now), number_(number), operation_(std::move(operation)) {
  AUGUR_CHECK(operation_.prepare != nullptr && operation_.done != nullptr);
}

Result<HttpRequest> RunningOperation::Prepare(Which which) {
  AUGUR_TRY_ASSIGN(attempt, operation_.prepare(requests_ + 1));
  ++requests_;
  HttpRequest request;
  method_ = attempt.method;
  url_ = attempt.url;
  request.method = std::move(attempt.method);
  request.url = std::move(attempt.url);
  request.headers = std::move(attempt.headers);
  request.into = operation_.into;
  request.body_max = operation_.body_max;
  request.body = operation_.body;
  request.stall_max = operation_.stall_max;
  request.urgent = operation_.urgent || which == Which::kHedge;
  request.new_connection = operation_.new_connection;
  if (which == Which::kHedge) {
    hedge_memory_.reset(new std::byte[operation_.into.size()]);  // not cleared: the body overwrites it
    request.into = {hedge_memory_.get(), operation_.into.size()};
  } else {
    request.new_connection |= connection_failed_;
    repeatable_ = request.method == "GET" || request.method == "HEAD";
  }
  return request;
}

std::string RunningOperation::Description() const {
  return requests_ == 0 ? "a request that was not sent" : method_ + " " + UrlWithoutSecrets(url_);
}

void RunningOperation::OnSent(Which which, uint64_t request, Time now) {
  sent(which) = {.request = request, .at = now, .began = false, .began_at = {}};
}

RunningOperation::Outcome RunningOperation::OnResponse(Which which, HttpResponse response) {
  sent(which) = {};
  if (decided()) return Outcome::kDecided;
  HttpVerdict verdict{HttpVerdict::Kind::kAgain, response.status};
  const bool answered = response.status.ok() || response.status.code() == Code::kUnsupported;
  if (answered) {
    verdict = operation_.judge ? operation_.judge(response) : JudgeByCode(response);
    if (verdict.kind == HttpVerdict::Kind::kDone && !response.status.ok()) {
      verdict = {HttpVerdict::Kind::kFailed, response.status};
    }
    if (verdict.kind == HttpVerdict::Kind::kDone && response.succeeded() &&
        response.body_bytes < operation_.into.size()) {
      verdict = {HttpVerdict::Kind::kAgain,
                 {Code::kIo, response.request + ": the answer " + std::to_string(response.code) + " has " +
                                 std::to_string(response.body_bytes) + " bytes in place of " +
                                 std::to_string(operation_.into.size())}};
    }
  } else if (response.status.code() != Code::kIo) {
    verdict.kind = HttpVerdict::Kind::kFailed;  // the same would come of another attempt
  }
  if (verdict.kind != HttpVerdict::Kind::kDone) response.status = std::move(verdict.status);
  if (verdict.kind == HttpVerdict::Kind::kAgain) {
    connection_failed_ = !answered;
    failure_ = std::move(response);
    return in_flight() ? Outcome::kOtherRuns : Outcome::kAgain;
  }
  hedge_won_ = which == Which::kHedge && response.succeeded();
  Decide(std::move(response));
  return Outcome::kDecided;
}

void RunningOperation::SetFailure(Status status) {
  failure_ = {};
  failure_.status = std::move(status);
}

void RunningOperation::Decide(HttpResponse response) {
  outcome_ = std::move(response);
  decided_ = true;
}

void RunningOperation::Complete() {
  AUGUR_CHECK(decided() && !in_flight());
  if (hedge_won_ && !operation_.into.empty()) {
    std::memcpy(operation_.into.data(), hedge_memory_.get(), operation_.into.size());
  }
  hedge_memory_.reset();
  operation_.done(std::move(outcome_));
}

void RunningOperation::Expedite(Time now) {
  operation_.urgent = true;
  operation_.spare = false;
  operation_.stall_max = std::min<std::chrono::milliseconds>(operation_.stall_max, HttpOperation::kUrgentStallMax);
  clock_start = now;
}

}  // namespace augur
