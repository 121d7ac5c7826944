// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "augur/status.h"
#include "http/http_request.h"

namespace augur {

// What one attempt sends.
struct HttpAttempt {
  std::string method = "GET";
  std::string url;
  HttpHeaders headers;
};

// What an answer means.
struct HttpVerdict {
  enum class Kind {
    kDone,    // it is the answer that was asked for
    kAgain,   // another attempt may bring it; `status` has the cause
    kFailed,  // no attempt will; `status` is the operation's
  };
  Kind kind = Kind::kDone;
  Status status;
};

// The meaning of an answer by its code alone: 200 to 299 are done; 429, 500, 502, 503 and 504 may be tried again; all
// others fail. An answer that is too long for its memory has failed.
HttpVerdict JudgeByCode(const HttpResponse& response);

// HttpOperation is what a RetryingClient brings to an end, by as many attempts as it needs. `into` and `body` are
// memory of the caller, which must stay until `done` is called. All callbacks run on the engine's thread and must not
// block.
struct HttpOperation {
  static constexpr std::chrono::seconds kUrgentStallMax{5};

  // The method, URL and headers of an attempt, the first of which is 1. Called for each attempt and each hedge anew, so
  // that each is signed with the credentials and the time of then. kBusy: not yet, try again later. Any other failure
  // ends the operation.
  std::function<Result<HttpAttempt>(int attempt)> prepare;
  // The meaning of an answer (see HttpResponse::status: it is OK or kUnsupported). Empty: JudgeByCode. Failures without
  // an answer are tried again and not shown.
  std::function<HttpVerdict(const HttpResponse& response)> judge;
  std::span<std::byte> into;  // as HttpRequest::into; an answer that does not fill it was cut short
  size_t body_max = 64 << 10;
  std::span<const std::byte> body;
  std::chrono::milliseconds stall_max{30'000};  // kUrgentStallMax where a reader waits
  // A reader waits: sent at once, however many requests are in flight and whether the link is up or down.
  bool urgent = false;
  // Sent only while no other operation waits to be sent; never hedged. For what uses the rest of the link.
  bool spare = false;
  // Not on a kept connection, the first attempt neither: an answer on one was wrong.
  bool new_connection = false;
  // Needed soon: hedged before others that are not urgent.
  bool hedge_first = false;
  // Exactly once. The status is OK only if the answer was judged done and is whole. Else its text ends with the number
  // of attempts. `into` is not written any more.
  std::function<void(HttpResponse)> done;
};

}  // namespace augur
