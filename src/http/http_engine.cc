// SPDX-License-Identifier: Apache-2.0
#include "http/http_engine.h"

#include <algorithm>

#include "base/check.h"
#include "base/thread.h"
#include "http/curl_setup.h"

namespace augur {
namespace {

// Between two looks at the clock where nothing else happens.
constexpr std::chrono::milliseconds kSleepMax{60'000};

// Of a request that was never sent.
HttpOutcome Stopped(HttpRequest request) {
  HttpResponse response;
  response.request = request.method + " " + UrlWithoutSecrets(request.url);
  response.status = {Code::kStopped, response.request + ": cancelled"};
  return {std::move(request.done), std::move(response)};
}

}  // namespace

Result<std::unique_ptr<HttpEngine>> HttpEngine::Make(HttpEngineOptions options) {
  if (options.in_flight_max < 1 || options.in_flight_max > kInFlightMax) {
    return Status{Code::kInvalid, std::to_string(options.in_flight_max) + " requests in flight: 1 to " +
                                      std::to_string(kInFlightMax) + " are possible"};
  }
  AUGUR_TRY(SetUpCurl());
  if (options.ca_bundle.empty()) {
    options.ca_bundle = SystemCaBundle();  // where it is missing, https says so and http works
  } else {
    AUGUR_TRY(CheckCaBundle(options.ca_bundle));
  }
  std::unique_ptr<HttpEngine> engine(new HttpEngine(std::move(options)));
  AUGUR_TRY_ASSIGN(multi, CurlMulti::Make(static_cast<long>(engine->options_.in_flight_max)));
  engine->multi_ = std::move(multi);
  engine->settings_ = {.share = engine->multi_->share(),
                       .ca_bundle = engine->options_.ca_bundle,
                       .user_agent = engine->options_.user_agent,
                       .received_bytes = &engine->received_bytes_};
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-http", [raw = engine.get()] { raw->Run(); }));
  engine->thread_ = std::move(thread);
  return engine;
}

HttpEngine::~HttpEngine() {
  if (!thread_.joinable()) return;  // Make failed
  AUGUR_CHECK(!OnThread());
  {
    const MutexLock lock(mu_);
    stop_ = true;
  }
  multi_->Wake();
  thread_.join();
}

uint64_t HttpEngine::Submit(HttpRequest request) {
  AUGUR_CHECK(request.done != nullptr);
  const uint64_t number = ++last_number_;
  const MutexLock lock(mu_);
  inbox_.submitted.push_back({number, std::move(request)});
  Wake();
  return number;
}

void HttpEngine::Cancel(uint64_t number) {
  const MutexLock lock(mu_);
  inbox_.cancelled.push_back(number);
  Wake();
}

HttpEngine::TaskId HttpEngine::RunAfter(std::chrono::milliseconds delay, std::function<void()> task) {
  const TaskId id{.due = Clock::now() + delay, .number = ++last_number_};
  const MutexLock lock(mu_);
  inbox_.tasks.emplace_back(id, std::move(task));
  Wake();
  return id;
}

void HttpEngine::DropTask(const TaskId& task) {
  AUGUR_CHECK(OnThread());
  if (task.number == 0 || tasks_.erase(task) > 0) return;
  const MutexLock lock(mu_);
  std::erase_if(inbox_.tasks, [&](const auto& waiting) { return waiting.first == task; });
}

void HttpEngine::Wake() {
  // The thread itself looks at the inbox before it sleeps.
  if (!std::exchange(woken_, true) && !OnThread()) multi_->Wake();
}

bool HttpEngine::MayStart() const {
  return active_.size() < options_.in_flight_max && !(urgent_.empty() && others_.empty());
}

bool HttpEngine::MaySleep() {
  if (MayStart()) return false;
  const MutexLock lock(mu_);
  return !woken_;
}

void HttpEngine::Run() {
  thread_id_ = std::this_thread::get_id();
  while (TakeInbox()) {
    RunDueTasks();
    StartWaiting();
    CallDone();  // of those that were cancelled or refused
    multi_->Run(MaySleep() ? WaitTime() : std::chrono::milliseconds(0), ended_);
    CollectEnded();
    EndStalled();
    CallDone();
  }
  EndAll();
}

bool HttpEngine::TakeInbox() {
  Inbox inbox;
  {
    const MutexLock lock(mu_);
    std::swap(inbox, inbox_);
    woken_ = false;
    if (stop_) {
      std::swap(inbox, inbox_);  // for EndAll
      return false;
    }
  }
  for (Waiting& waiting : inbox.submitted) (waiting.request.urgent ? urgent_ : others_).push_back(std::move(waiting));
  for (const uint64_t number : inbox.cancelled) CancelOne(number);
  for (auto& [id, task] : inbox.tasks) tasks_.emplace(id, std::move(task));
  return true;
}

void HttpEngine::RunDueTasks() {
  const Clock::time_point now = Clock::now();
  while (!tasks_.empty() && tasks_.begin()->first.due <= now) {
    const std::function<void()> task = std::move(tasks_.begin()->second);
    tasks_.erase(tasks_.begin());
    task();
  }
}

void HttpEngine::StartWaiting() {
  while (MayStart()) {
    std::deque<Waiting>& queue = urgent_.empty() ? others_ : urgent_;
    Waiting waiting = std::move(queue.front());
    queue.pop_front();
    Start(std::move(waiting));
  }
}

void HttpEngine::Start(Waiting waiting) {
  if (idle_.empty()) idle_.push_back(std::make_unique<HttpTransfer>(settings_));
  std::unique_ptr<HttpTransfer> transfer = std::move(idle_.back());
  idle_.pop_back();
  HttpTransfer& started = *transfer;
  const Status possible = started.Begin(waiting.number, std::move(waiting.request));
  active_.emplace(waiting.number, std::move(transfer));
  if (!possible.ok()) {
    Finish(started, started.FinishRefused(possible));
    return;
  }
  next_look_ = std::min(next_look_, started.NextLook(Clock::now()));
  multi_->Add(started.easy());
}

void HttpEngine::CancelOne(uint64_t number) {
  if (const auto found = active_.find(number); found != active_.end()) {
    multi_->Remove(found->second->easy());
    Finish(*found->second, found->second->FinishCancelled());
    return;
  }
  for (std::deque<Waiting>* queue : {&urgent_, &others_}) {
    const auto found =
        std::find_if(queue->begin(), queue->end(), [&](const Waiting& one) { return one.number == number; });
    if (found == queue->end()) continue;
    outcomes_.push_back(Stopped(std::move(found->request)));
    queue->erase(found);
    return;
  }
}

void HttpEngine::CollectEnded() {
  for (const CurlMulti::Ended& ended : ended_) {
    HttpTransfer& transfer = HttpTransfer::Of(ended.transfer);
    multi_->Remove(ended.transfer);
    Finish(transfer, transfer.Finish(ended.code));
  }
  ended_.clear();
}

void HttpEngine::EndStalled() {
  // After Run: bytes that came while callbacks ran have been taken.
  const Clock::time_point now = Clock::now();
  if (now < next_look_) return;
  next_look_ = Clock::time_point::max();
  std::vector<HttpTransfer*> stalled;
  for (const auto& [number, transfer] : active_) {
    if (transfer->IsStalled(multi_->SocketOf(transfer->easy()), now)) {
      stalled.push_back(transfer.get());
    } else {
      next_look_ = std::min(next_look_, transfer->NextLook(now));
    }
  }
  for (HttpTransfer* transfer : stalled) {
    multi_->Remove(transfer->easy());
    Finish(*transfer, transfer->FinishStalled());
  }
}

void HttpEngine::Finish(HttpTransfer& transfer, HttpOutcome outcome) {
  const auto found = active_.find(transfer.number());
  idle_.push_back(std::move(found->second));
  active_.erase(found);
  outcomes_.push_back(std::move(outcome));
}

void HttpEngine::CallDone() {
  std::vector<HttpOutcome> outcomes = std::exchange(outcomes_, {});
  for (HttpOutcome& outcome : outcomes) {
    outcome.done(std::move(outcome.response));
    outcome.done = nullptr;  // what it holds is let go before the next one is called
  }
}

void HttpEngine::EndAll() {
  for (;;) {
    while (!active_.empty()) CancelOne(active_.begin()->first);
    std::vector<Waiting> submitted;
    {
      const MutexLock lock(mu_);
      submitted.swap(inbox_.submitted);
    }
    for (std::deque<Waiting>* queue : {&urgent_, &others_}) {
      for (Waiting& waiting : *queue) outcomes_.push_back(Stopped(std::move(waiting.request)));
      queue->clear();
    }
    for (Waiting& waiting : submitted) outcomes_.push_back(Stopped(std::move(waiting.request)));
    if (outcomes_.empty()) break;
    CallDone();
  }
  tasks_.clear();
  idle_.clear();
}

std::chrono::milliseconds HttpEngine::WaitTime() const {
  Clock::time_point until = next_look_;
  if (!tasks_.empty()) until = std::min(until, tasks_.begin()->first.due);
  const Clock::time_point now = Clock::now();
  if (until <= now) return std::chrono::milliseconds(0);
  if (until - now > kSleepMax) return kSleepMax;
  return std::chrono::ceil<std::chrono::milliseconds>(until - now);
}

}  // namespace augur
