// SPDX-License-Identifier: Apache-2.0
#include "s3/renewing_credentials.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/limited_log.h"
#include "base/thread.h"
#include "base/units.h"

namespace augur {
namespace {

// The clock may jump, after a suspend of the machine for one, so it is looked at now and then.
constexpr std::chrono::milliseconds kSleepMax{60'000};

bool AreSame(const CredentialsPtr& a, const CredentialsPtr& b) {
  if (a == nullptr || b == nullptr) return false;
  return a->access_key_id == b->access_key_id && a->secret_access_key == b->secret_access_key &&
         a->session_token == b->session_token;
}

Status Stopped() { return {Code::kStopped, "credentials are no longer renewed"}; }

// One answer, for a thread that waits.
class Answer {
 public:
  void Give(Result<CredentialsPtr> result) {
    const MutexLock lock(mu_);
    result_.emplace(std::move(result));
    given_.NotifyAll();
  }
  Result<CredentialsPtr> Await() {
    const MutexLock lock(mu_);
    while (!result_) given_.Wait(mu_);
    return *result_;
  }

 private:
  Mutex mu_;
  CondVar given_;
  std::optional<Result<CredentialsPtr>> result_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace

Result<std::unique_ptr<RenewingCredentials>> RenewingCredentials::Start(std::unique_ptr<CredentialSource> source,
                                                                        UtcClock clock) {
  AUGUR_TRY_ASSIGN(first, FetchValid(*source, clock));
  std::unique_ptr<RenewingCredentials> provider(
      new RenewingCredentials(std::move(source), std::move(clock), std::move(first)));
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-renew", [self = provider.get()] { self->Run(); }));
  provider->thread_ = std::move(thread);
  return provider;
}

RenewingCredentials::RenewingCredentials(std::unique_ptr<CredentialSource> source, UtcClock clock, CredentialsPtr first)
    : source_(std::move(source)), clock_(std::move(clock)), current_(std::move(first)) {
  schedule_.Succeeded(clock_(), current_->expiration);
}

RenewingCredentials::~RenewingCredentials() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
    work_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
  Waiters left;
  {
    const MutexLock lock(mu_);
    left = std::move(waiters_);
    waiters_.clear();
  }
  for (const Waiter& waiter : left) waiter.done(Stopped());
}

bool RenewingCredentials::IsValid(const CredentialsPtr& credentials, UtcTime now) {
  if (credentials == nullptr) return false;
  const std::optional<UtcTime>& expiration = credentials->expiration;
  return !expiration || now < *expiration;
}

Result<CredentialsPtr> RenewingCredentials::FetchValid(CredentialSource& source, const UtcClock& clock) {
  AUGUR_TRY_ASSIGN(fetched, source.Fetch());
  const auto credentials = std::make_shared<const Credentials>(std::move(fetched));
  const UtcTime now = clock();
  if (IsValid(credentials, now)) return CredentialsPtr(credentials);
  return Status(Code::kPermission, credentials->source + " gives credentials that expired at " +
                                       IsoTime(credentials->expiration.value_or(now)) + ", and this clock says " +
                                       IsoTime(now) + ": log in anew, or set the clock");
}

CredentialsPtr RenewingCredentials::Current() {
  const UtcTime now = clock_();
  const MutexLock lock(mu_);
  if (const std::optional<UtcTime> due = schedule_.due(); due && *due <= now) {
    look_at_clock_ = true;
    work_.NotifyOne();
  }
  return IsValid(current_, now) ? current_ : nullptr;
}

Result<CredentialsPtr> RenewingCredentials::Get() {
  if (CredentialsPtr current = Current()) return current;
  const auto answer = std::make_shared<Answer>();
  Renew(nullptr, [answer](Result<CredentialsPtr> result) { answer->Give(std::move(result)); });
  return answer->Await();
}

void RenewingCredentials::Renew(CredentialsPtr refused, Done done) {
  const UtcTime now = clock_();
  std::optional<Result<CredentialsPtr>> answer;
  {
    const MutexLock lock(mu_);
    if (stop_) {
      answer.emplace(Stopped());
    } else if (IsValid(current_, now) && !AreSame(current_, refused)) {
      answer.emplace(current_);
    } else {
      waiters_.push_back({.refused = std::move(refused), .done = std::move(done)});
      work_.NotifyOne();
      return;
    }
  }
  done(*std::move(answer));
}

void RenewingCredentials::Run() {
  while (AwaitWork()) RenewNow();
}

bool RenewingCredentials::AwaitWork() {
  while (true) {
    const UtcTime now = clock_();
    const MutexLock lock(mu_);
    if (stop_) return false;
    if (!waiters_.empty()) return true;
    const std::optional<UtcTime> due = schedule_.due();
    if (due && *due <= now) return true;
    // Who set it may have seen a later clock than `now`.
    if (std::exchange(look_at_clock_, false)) continue;
    const std::chrono::milliseconds left = due ? std::chrono::milliseconds(*due - now) : kSleepMax;
    work_.WaitFor(mu_, std::min(left, kSleepMax));
  }
}

bool RenewingCredentials::AnswerWithoutSource(UtcTime now, Waiters* waiters) {
  Waiters served;
  Waiters failed;
  CredentialsPtr current;
  Status failure;
  bool is_due = false;
  {
    const MutexLock lock(mu_);
    current = current_;
    failure = failure_;
    const std::optional<UtcTime> due = schedule_.due();
    is_due = due && *due <= now;
    for (Waiter& waiter : waiters_) {
      const bool serves = IsValid(current, now) && !AreSame(current, waiter.refused);
      (serves ? served : schedule_.MayTry(now) ? *waiters : failed).push_back(std::move(waiter));
    }
    waiters_.clear();
  }
  for (const Waiter& waiter : served) waiter.done(current);
  for (const Waiter& waiter : failed) waiter.done(failure);
  return is_due || !waiters->empty();
}

Result<CredentialsPtr> RenewingCredentials::Fetch(const Waiters& waiters) {
  Result<CredentialsPtr> fetched = FetchValid(*source_, clock_);
  if (!fetched.ok()) return fetched;
  const bool was_refused = std::any_of(waiters.begin(), waiters.end(),
                                       [&fetched](const Waiter& waiter) { return AreSame(*fetched, waiter.refused); });
  if (!was_refused) return fetched;
  return Status(Code::kPermission, "the server refuses the credentials of " + (*fetched)->source + " (key " +
                                       (*fetched)->access_key_id + "), and there are no others: log in anew");
}

void RenewingCredentials::RenewNow() {
  Waiters waiters;
  if (!AnswerWithoutSource(clock_(), &waiters)) return;
  Result<CredentialsPtr> result = Fetch(waiters);
  const UtcTime now = clock_();
  bool had_failed = false;
  {
    const MutexLock lock(mu_);
    had_failed = !failure_.ok();
    failure_ = result.status();
    if (result.ok()) {
      current_ = *result;
      schedule_.Succeeded(now, current_->expiration);
    } else {
      schedule_.Failed(now);
    }
  }
  if (!result.ok()) {
    const std::string text = "cannot renew credentials: " + Printable(result.status().text());
    LogLimited(spdlog::level::warn, "credentials", text, text);
  } else if (had_failed) {
    spdlog::info("credentials are renewed, by {}", Printable((*result)->source));
  }
  for (const Waiter& waiter : waiters) waiter.done(result);
}

}  // namespace augur
