// SPDX-License-Identifier: Apache-2.0
#include "http/operation_scheduler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/limited_log.h"

namespace augur {
namespace {

// Between attempts of a request for which a reader waits, while the link is down: it should be back soon after the link
// is. An attempt takes up to 3 s itself, so that this adds a few packets a second.
constexpr std::chrono::milliseconds kDownDelayMax{1000};

constexpr int kThrottled[] = {429, 503};

// A long answer counts for several requests of the limit. At 30 ms a line of 200 MB/s is full with 12 answers of 1 MiB,
// 8 of 4 MiB or 4 of 8 MiB (measured). With 16 of 4 MiB a new connection got its first byte after 200 ms, and its last
// one after a second.
int SlotsOf(size_t bytes) {
  constexpr size_t kSlotBytes = 2 << 20;
  return static_cast<int>(std::max<size_t>(1, (bytes + kSlotBytes / 2) / kSlotBytes));
}

std::chrono::milliseconds Milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time);
}

}  // namespace

OperationScheduler::OperationScheduler(HttpEngine& engine, const RetryOptions& options, HttpCounters& counters)
    : engine_(engine),
      options_(options),
      counters_(counters),
      limit_(options.in_flight_min, options.in_flight_start, options.in_flight_max),
      hedges_(options.hedge) {
  counters_.in_flight_limit = static_cast<uint64_t>(limit_.value());
}

void OperationScheduler::Submit(uint64_t number, HttpOperation operation) {
  auto running = std::make_unique<RunningOperation>(number, std::move(operation), Clock::now());
  RunningOperation& added = *running;
  operations_.emplace(number, std::move(running));
  ++submits_;
  if (ending_) {
    Cancel(number);
    return;
  }
  Enqueue(added, /*first=*/false);
  StartTicking();
  Pump();
}

void OperationScheduler::Cancel(uint64_t number) {
  RunningOperation* const operation = Find(number);
  if (operation == nullptr || operation->decided()) return;
  HttpResponse response;
  response.status = {Code::kStopped, operation->Description() + ": cancelled"};
  Decide(*operation, std::move(response));
  Pump();
}

void OperationScheduler::Expedite(uint64_t number) {
  RunningOperation* const operation = Find(number);
  if (operation == nullptr || operation->urgent()) return;
  operation->Expedite(Clock::now());
  Uncount(*operation);
  if (operation->state != State::kInFlight) Enqueue(*operation, /*first=*/false);
  Pump();
}

void OperationScheduler::End(std::function<void()> ended) {
  ending_ = true;
  ended_ = std::move(ended);
  std::vector<uint64_t> numbers;
  numbers.reserve(operations_.size());
  for (const auto& [number, operation] : operations_) numbers.push_back(number);
  for (const uint64_t number : numbers) Cancel(number);
  EndSoon();
}

void OperationScheduler::EndSoon() {
  if (!ending_ || !operations_.empty()) return;
  // What a `done` has submitted is on its way here.
  engine_.RunAfter({}, [self = shared_from_this(), submits = submits_] {
    if (self->submits_ == submits && self->ended_) std::exchange(self->ended_, nullptr)();
  });
}

RunningOperation* OperationScheduler::Find(uint64_t number) {
  const auto found = operations_.find(number);
  return found == operations_.end() ? nullptr : found->second.get();
}

void OperationScheduler::Enqueue(RunningOperation& operation, bool first) {
  operation.state = State::kWaiting;
  std::deque<uint64_t>& queue = QueueOf(operation);
  queue.insert(first ? queue.begin() : queue.end(), operation.number());
}

std::deque<uint64_t>& OperationScheduler::QueueOf(const RunningOperation& operation) {
  if (operation.urgent()) return urgent_;
  return operation.spare() ? spare_ : others_;
}

void OperationScheduler::Pump() {
  while (RunningOperation* const operation = TakeWaiting(urgent_)) Send(*operation);
  if (PumpLimited(others_)) PumpLimited(spare_);
}

bool OperationScheduler::PumpLimited(std::deque<uint64_t>& queue) {
  while (!queue.empty()) {
    if (link_.down()) {
      if (!link_.TakeProbe(Clock::now())) return false;
    } else if (counted_ >= limit_.value()) {
      return false;
    }
    RunningOperation* const operation = TakeWaiting(queue);
    if (operation == nullptr) return true;
    operation->counted = SlotsOf(operation->operation().into.size());
    counted_ += operation->counted;
    Send(*operation);
  }
  return true;
}

RunningOperation* OperationScheduler::TakeWaiting(std::deque<uint64_t>& queue) {
  while (!queue.empty()) {
    RunningOperation* const operation = Find(queue.front());
    queue.pop_front();
    if (operation != nullptr && operation->state == State::kWaiting && &QueueOf(*operation) == &queue &&
        !operation->decided()) {
      return operation;
    }
  }
  return nullptr;
}

void OperationScheduler::Send(RunningOperation& operation) {
  if (operation.requests() == 0) {
    operation.clock_start = Clock::now();
    hedges_.OnRequest();
  }
  operation.state = State::kInFlight;
  Result<HttpRequest> request = operation.Prepare(Which::kFirst);
  if (request.ok()) {
    SendRequest(operation, Which::kFirst, std::move(request).value());
    ArmHedge(operation);
    return;
  }
  operation.SetFailure(request.status());
  if (request.status().code() == Code::kBusy) {
    Retry(operation, /*no_answer=*/false);
  } else {
    Decide(operation, operation.failure());
  }
}

void OperationScheduler::SendHedge(RunningOperation& operation) {
  Result<HttpRequest> request = operation.Prepare(Which::kHedge);
  if (!request.ok()) return;  // the first request goes on
  hedge_bytes_ += operation.hedge_bytes();
  ++counters_.hedges;
  SendRequest(operation, Which::kHedge, std::move(request).value());
}

void OperationScheduler::SendRequest(RunningOperation& operation, Which which, HttpRequest request) {
  const uint64_t number = operation.number();
  request.began = [self = shared_from_this(), number, which] { self->OnBegan(number, which); };
  request.done = [self = shared_from_this(), number, which](HttpResponse response) {
    self->OnDone(number, which, std::move(response));
  };
  ++counters_.requests;
  if (which == Which::kFirst && operation.requests() > 1) ++counters_.retries;
  operation.OnSent(which, engine_.Submit(std::move(request)), Clock::now());
}

void OperationScheduler::ArmHedge(RunningOperation& operation) {
  if (!options_.hedging || !operation.may_be_hedged()) return;
  const RunningOperation::Sent& first = operation.sent(Which::kFirst);
  engine_.DropTask(operation.hedge_timer);
  operation.hedge_timer =
      engine_.RunAfter(first.began ? hedges_.WholeThreshold(operation.operation().into.size()) : hedges_.Threshold(),
                       [self = shared_from_this(), number = operation.number(), request = first.request,
                        began = first.began] { self->OnHedgeDue(number, request, began); });
}

void OperationScheduler::OnHedgeDue(uint64_t number, uint64_t request, bool began) {
  RunningOperation* const operation = Find(number);
  if (operation == nullptr || operation->decided() || link_.down()) return;
  const RunningOperation::Sent& first = operation->sent(Which::kFirst);
  if (first.request != request || first.began != began || operation->sent(Which::kHedge).request != 0) return;
  const bool has_room = hedge_bytes_ + operation->operation().into.size() <= options_.hedge_bytes_max;
  if (has_room && hedges_.TryHedge(operation->urgent() || operation->operation().hedge_first)) {
    SendHedge(*operation);
  } else {
    ArmHedge(*operation);  // later, by what is the threshold then
  }
}

void OperationScheduler::OnBegan(uint64_t number, Which which) {
  RunningOperation* const operation = Find(number);
  AUGUR_CHECK(operation != nullptr);
  RunningOperation::Sent& sent = operation->sent(which);
  sent.began = true;
  sent.began_at = Clock::now();
  hedges_.OnFirstByte(Milliseconds(sent.began_at - sent.at));
  if (which == Which::kFirst) ArmHedge(*operation);
  if (!link_.OnAnswer()) return;
  counters_.link_down = false;
  LogLimited(spdlog::level::info, "http link", "up", "the server answers again");
  // Not from here: libcurl is in the middle of its work, and a failure to prepare would call `done`.
  engine_.RunAfter({}, [self = shared_from_this()] { self->Pump(); });
}

void OperationScheduler::OnDone(uint64_t number, Which which, HttpResponse response) {
  RunningOperation* const operation = Find(number);
  AUGUR_CHECK(operation != nullptr);
  const RunningOperation::Sent sent = operation->sent(which);
  counters_.bytes += response.body_bytes;
  counters_.connections += response.connection_was_new ? 1 : 0;
  // One that was given up without a first byte counts as late.
  const std::chrono::milliseconds time = Milliseconds(Clock::now() - sent.at);
  if (!sent.began && time >= hedges_.Threshold()) hedges_.OnFirstByte(time);
  if (sent.began && response.status.ok()) {
    hedges_.OnWhole(Milliseconds(Clock::now() - sent.began_at), response.body_bytes);
  }
  if (std::find(std::begin(kThrottled), std::end(kThrottled), response.code) != std::end(kThrottled)) {
    ++counters_.throttled;
    limit_.OnThrottled();
    counters_.in_flight_limit = static_cast<uint64_t>(limit_.value());
  }
  const bool no_answer = response.code == 0 && response.status.code() == Code::kIo;
  const std::string cause = no_answer ? response.status.text() : std::string();
  // Where no reader waits, a transfer over a slow line that broke off has time_max from there. Its attempts are
  // counted.
  const bool broke_off = response.got_on && response.status.code() == Code::kIo;
  if (broke_off && !operation->urgent()) operation->clock_start = Clock::now();

  const RunningOperation::Outcome outcome = operation->OnResponse(which, std::move(response));
  if (which == Which::kHedge && !operation->hedge_won()) hedge_bytes_ -= operation->operation().into.size();
  if (no_answer) NoteNoAnswer(cause);
  switch (outcome) {
    case RunningOperation::Outcome::kDecided: Finish(*operation); break;
    case RunningOperation::Outcome::kOtherRuns: break;
    case RunningOperation::Outcome::kAgain: Retry(*operation, no_answer && !broke_off); break;
  }
  Pump();
}

void OperationScheduler::NoteNoAnswer(const std::string& cause) {
  const bool was_down = link_.down();
  link_.OnNoAnswer(Clock::now());
  if (was_down || !link_.down()) return;
  counters_.link_down = true;
  LogLimited(spdlog::level::warn, "http link", "down",
             "no answer to " + std::to_string(LinkState::kFailuresDown) + " requests in a row; reads wait up to " +
                 std::to_string(Milliseconds(options_.time_max).count() / 1000) + " s for the server: " + cause);
}

void OperationScheduler::Retry(RunningOperation& operation, bool no_answer) {
  Uncount(operation);
  // While the link is down an attempt tells nothing of the request.
  if (!(no_answer && link_.down())) ++operation.failures;
  const Clock::time_point now = Clock::now();
  // Where the server has been away for as long as a reader waits, another wait tells nothing: a second attempt, which
  // is on a new connection, decides. (The kernel asks twice for a page that it did not get.)
  const bool long_down = no_answer && operation.urgent() && operation.requests() > 1 && link_.down() &&
                         now - link_.down_since() >= options_.time_max;
  if (operation.failures >= options_.attempts_max || long_down || IsOverdue(operation, now)) {
    GiveUp(operation);
    return;
  }
  if (!operation.urgent() && link_.down()) {
    Enqueue(operation, /*first=*/true);  // until a probe or the link's return
    return;
  }
  operation.state = State::kPausing;
  const double random = std::uniform_real_distribution<double>(0, 1)(random_);
  std::chrono::milliseconds delay = options_.backoff.Delay(std::max(operation.failures, 1), random);
  if (link_.down()) delay = std::min(delay, kDownDelayMax);
  const Clock::time_point deadline = operation.clock_start + options_.time_max;
  delay = std::min(delay, Milliseconds(deadline - now));
  engine_.RunAfter(delay, [self = shared_from_this(), number = operation.number(), requests = operation.requests()] {
    self->Resume(number, requests);
  });
}

void OperationScheduler::Resume(uint64_t number, int requests) {
  RunningOperation* const operation = Find(number);
  if (operation == nullptr || operation->decided()) return;
  if (operation->state != State::kPausing || operation->requests() != requests) return;  // it was expedited
  Enqueue(*operation, /*first=*/true);
  Pump();
}

void OperationScheduler::GiveUp(RunningOperation& operation) {
  HttpResponse response = operation.failure();
  if (response.status.ok()) response.status = {Code::kIo, operation.Description() + ": no answer came"};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - operation.clock_start);
  response.status = {response.status.code(), response.status.text() + " (given up after " +
                                                 std::to_string(operation.requests()) + " requests in " +
                                                 std::to_string(seconds.count()) +
                                                 " s: is the address right, and the server up?)"};
  Decide(operation, std::move(response));
}

void OperationScheduler::Decide(RunningOperation& operation, HttpResponse response) {
  operation.Decide(std::move(response));
  Finish(operation);
}

void OperationScheduler::Finish(RunningOperation& operation) {
  if (operation.in_flight()) {
    for (const Which which : {Which::kFirst, Which::kHedge}) {
      if (const uint64_t request = operation.sent(which).request; request != 0) engine_.Cancel(request);
    }
    return;  // OnDone comes back
  }
  Uncount(operation);
  engine_.DropTask(operation.hedge_timer);
  if (operation.hedge_won()) {
    ++counters_.hedges_won;
    hedge_bytes_ -= operation.operation().into.size();
  }
  const auto found = operations_.find(operation.number());
  const std::unique_ptr<RunningOperation> ended = std::move(found->second);
  operations_.erase(found);
  if (!ended->outcome().ok() && ended->outcome().code() != Code::kStopped) ++counters_.failed;
  ended->Complete();
  EndSoon();
}

void OperationScheduler::Uncount(RunningOperation& operation) { counted_ -= std::exchange(operation.counted, 0); }

void OperationScheduler::StartTicking() {
  if (std::exchange(ticking_, true)) return;
  tick_bytes_ = engine_.received_bytes();
  engine_.RunAfter(ConcurrencyLimit::kInterval, [self = shared_from_this()] { self->Tick(); });
}

void OperationScheduler::Tick() {
  ticking_ = false;
  if (operations_.empty()) {
    limited_ = false;
    return;
  }
  const uint64_t bytes = engine_.received_bytes();
  limit_.OnInterval(limited_ && IsLimited(), static_cast<double>(bytes - tick_bytes_));
  counters_.in_flight_limit = static_cast<uint64_t>(limit_.value());
  StartTicking();

  std::vector<uint64_t> overdue;
  const Clock::time_point now = Clock::now();
  for (const auto& [number, operation] : operations_) {
    if (!operation->decided() && !operation->is_moving() && IsOverdue(*operation, now)) overdue.push_back(number);
  }
  for (const uint64_t number : overdue) {
    if (RunningOperation* const operation = Find(number)) GiveUp(*operation);
  }
  Pump();
  limited_ = IsLimited();
}

bool OperationScheduler::IsOverdue(const RunningOperation& operation, Clock::time_point now) const {
  Clock::time_point start = operation.clock_start;
  if (operation.requests() == 0 && !operation.urgent()) {
    // It waits for its turn, which comes while the link is up.
    if (!link_.down()) return false;
    start = std::max(start, link_.down_since());
  }
  return now >= start + options_.time_max;
}

}  // namespace augur
