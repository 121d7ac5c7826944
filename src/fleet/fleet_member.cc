// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_member.h"

#include <algorithm>
#include <utility>

#include "base/limited_log.h"
#include "base/thread.h"

namespace augur {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

}  // namespace

FleetMember::FleetMember(FleetAddress address, const FleetEvents& events, FleetWaiting& waiting, milliseconds out)
    : address_(std::move(address)), events_(events), waiting_bytes_(waiting), breaker_(out), connection_(address_) {}

Status FleetMember::Start() {
  {
    const MutexLock lock(mu_);
    running_ = true;
  }
  Result<std::thread> thread = StartThread("augur-member", [this] { Run(); });
  if (!thread.ok()) {
    const MutexLock lock(mu_);
    running_ = false;
    return thread.status();
  }
  thread_ = std::move(thread).value();
  return Status::Ok();
}

void FleetMember::Stop() {
  {
    const MutexLock lock(mu_);
    running_ = false;
    changed_.NotifyAll();
  }
  connection_.Interrupt();
  if (thread_.joinable()) thread_.join();
  DropAll();
}

bool FleetMember::out() const {
  const MutexLock lock(mu_);
  return breaker_.out();
}

bool FleetMember::full() const {
  const MutexLock lock(mu_);
  return refusals_ >= kRefusalsFull;
}

uint64_t FleetMember::returns() const {
  const MutexLock lock(mu_);
  return returns_;
}

std::optional<FleetMember::Clock::time_point> FleetMember::Ask(const std::shared_ptr<FleetRead>& read, size_t part,
                                                               bool urgent) {
  const uint64_t bytes = read->PartBytes(part);
  const Clock::time_point now = Clock::now();
  const MutexLock lock(mu_);
  Queue& queue = urgent ? urgent_ : ahead_;
  if (!running_ || (queue.bytes > 0 && queue.bytes + bytes > kQueueBytesMax) || !breaker_.MayAsk(now)) {
    return std::nullopt;
  }
  queue.questions.push_back({.read = read, .part = part, .bytes = bytes, .asked = now});
  queue.bytes += bytes;
  changed_.NotifyOne();
  return now + deadline_.For(urgent ? urgent_.bytes : urgent_.bytes + ahead_.bytes);
}

void FleetMember::OnDeadline(FleetRead& read, size_t part) {
  if (read.End(part)) OnFailure("no answer within the deadline");
}

bool FleetMember::Offer(const FleetKey& key, const std::function<FleetValue()>& make) {
  {
    const MutexLock lock(mu_);
    if (!running_ || breaker_.out() || Clock::now() < full_until_) return false;
    if (!waiting_.insert(key).second) return false;
    if (!waiting_bytes_.Add(key.size)) {
      waiting_.erase(key);
      return false;
    }
  }
  Keep keep{.key = key, .value = make()};
  const MutexLock lock(mu_);
  keeps_.push_back(std::move(keep));
  changed_.NotifyOne();
  return true;
}

void FleetMember::Visit(FleetErrand errand) {
  {
    const MutexLock lock(mu_);
    if (running_ && breaker_.MayAsk(Clock::now())) {
      errands_.push_back(std::move(errand));
      changed_.NotifyOne();
      return;
    }
  }
  errand.done(false);
}

void FleetMember::OnStored(MemcachedConnection::Kept kept) {
  const MutexLock lock(mu_);
  if (kept == MemcachedConnection::Kept::kRefused) {
    ++refusals_;
    full_until_ = Clock::now() + kAfterRefusal;
  } else if (kept == MemcachedConnection::Kept::kYes) {
    refusals_ = 0;
  }
}

void FleetMember::Run() {
  while (true) {
    std::optional<Question> question;
    std::optional<Keep> keep;
    std::optional<FleetErrand> errand;
    Queue* queue = nullptr;
    {
      const MutexLock lock(mu_);
      while (running_ && urgent_.questions.empty() && ahead_.questions.empty() && keeps_.empty() && errands_.empty()) {
        changed_.Wait(mu_);
      }
      if (!running_) return;
      if (!urgent_.questions.empty() || !ahead_.questions.empty()) {
        queue = urgent_.questions.empty() ? &ahead_ : &urgent_;
        question = std::move(queue->questions.front());
        queue->questions.pop_front();
      } else if (!keeps_.empty()) {
        keep = std::move(keeps_.front());
        keeps_.pop_front();
      } else {
        errand = std::move(errands_.front());
        errands_.pop_front();
      }
    }
    if (keep) Put(*keep);
    if (errand) Do(*errand);
    if (!question) continue;
    const uint64_t before = question->bytes;
    const bool more = Answer(*question);
    const MutexLock lock(mu_);
    queue->bytes -= before - (more ? question->bytes : 0);
    if (more) queue->questions.push_front(std::move(*question));
  }
}

// Twice as long as readers wait: a server that has become slower is measured, and not given up for it.
ReplyDeadline::Duration FleetMember::Patience(uint64_t bytes) const {
  const MutexLock lock(mu_);
  return 2 * deadline_.For(bytes);
}

bool FleetMember::Answer(Question& question) {
  FleetRead& read = *question.read;
  if (!read.IsOpen(question.part)) return false;
  const std::vector<size_t>& values = read.values(question.part);
  const size_t begin = question.next;
  const uint64_t bytes_before = question.bytes;
  std::vector<std::string> keys;
  for (uint64_t bytes = 0; question.next < values.size() && keys.size() < kValuesMax; ++question.next) {
    const FleetKey& key = read.wanted(values[question.next]).key;
    if (!keys.empty() && bytes + key.size > kBytesMax) break;
    bytes += key.size;
    question.bytes -= key.size;
    keys.push_back(key.text());
  }
  const Clock::time_point until = Clock::now() + Patience(bytes_before - question.bytes);
  std::optional<Clock::time_point> replied;
  const Status status = connection_.Get(keys, until, [&](size_t key, std::span<const std::byte> value) {
    if (!replied) replied = Clock::now();
    read.Take(question.part, values[begin + key], value);
  });
  if (begin == 0) {
    const MutexLock lock(mu_);
    deadline_.OnReply(duration_cast<ReplyDeadline::Duration>(replied.value_or(Clock::now()) - question.asked));
  }
  if (!status.ok()) {
    if (read.End(question.part)) OnFailure(status.text());
    return false;
  }
  if (question.next < values.size()) return true;
  if (read.End(question.part)) OnAnswer();
  return false;
}

void FleetMember::Put(const Keep& keep) {
  bool away = false;
  {
    const MutexLock lock(mu_);
    away = breaker_.out() || Clock::now() < full_until_;
  }
  if (away) {
    events_.on_refused();
  } else if (keep.value.is_right()) {
    const Result<MemcachedConnection::Kept> kept =
        connection_.Set(keep.key.text(), keep.value.bytes, Clock::now() + Patience(keep.key.size), {});
    if (!kept.ok()) {
      events_.on_refused();
      OnFailure(kept.status().text());
    } else {
      *kept == MemcachedConnection::Kept::kYes ? events_.on_kept() : events_.on_refused();
      OnStored(*kept);
    }
  }
  waiting_bytes_.Remove(keep.key.size);
  const MutexLock lock(mu_);
  waiting_.erase(keep.key);
}

void FleetMember::Do(const FleetErrand& errand) {
  const Status status = errand.act(connection_, Clock::now() + Patience(errand.bytes));
  status.ok() ? OnAnswer() : OnFailure(status.text());
  errand.done(status.ok());
}

void FleetMember::OnFailure(const std::string& cause) {
  std::deque<FleetErrand> errands;  // each would wait for as long as the one that failed
  {
    const MutexLock lock(mu_);
    refusals_ = 0;  // it may have been started anew
    if (!breaker_.OnFailure(Clock::now())) return;
    errands.swap(errands_);
  }
  for (const FleetErrand& errand : errands) errand.done(false);
  LogLimited(spdlog::level::warn, "fleet-cache", address_.text(),
             "fleet-cache: " + address_.text() + ": not asked for " + std::to_string(MemberBreaker::kOut.count()) +
                 " s after " + std::to_string(MemberBreaker::kFailuresOut) + " failures in a row, the last one: " +
                 cause + "; its share is read from the store's server meanwhile");
}

void FleetMember::OnAnswer() {
  {
    const MutexLock lock(mu_);
    if (!breaker_.OnAnswer()) return;
    ++returns_;
  }
  LogLimited(spdlog::level::info, "fleet-cache", address_.text() + " is back",
             "fleet-cache: " + address_.text() + " answers again");
}

void FleetMember::DropAll() {
  std::deque<Question> questions;
  std::deque<Keep> keeps;
  std::deque<FleetErrand> errands;
  {
    const MutexLock lock(mu_);
    questions.swap(urgent_.questions);
    std::ranges::move(ahead_.questions, std::back_inserter(questions));
    ahead_.questions.clear();
    urgent_.bytes = ahead_.bytes = 0;
    keeps.swap(keeps_);
    errands.swap(errands_);
    waiting_.clear();
  }
  for (const Question& question : questions) question.read->End(question.part);
  for (const Keep& keep : keeps) waiting_bytes_.Remove(keep.key.size);
  for (const FleetErrand& errand : errands) errand.done(false);
}

}  // namespace augur
