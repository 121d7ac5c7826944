// SPDX-License-Identifier: Apache-2.0
#include "seed_search/searcher.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/cores.h"
#include "base/thread.h"

namespace augur {
namespace {

// A range that the clerk has begun, nobody else can end: it goes on with at least this share of a core, whatever was
// withdrawn meanwhile.
constexpr double kShareInRange = 0.05;

void AddNice(int nice) {
  const int now = getpriority(PRIO_PROCESS, 0);  // of the thread, on Linux
  (void)setpriority(PRIO_PROCESS, 0, std::min(now + nice, kLowestNice));
}

}  // namespace

// The turn of the clerk: sleeps in the middle of a range where the budget says so.
class Searcher::ClerkTurn final : public SearchTurn {
 public:
  ClerkTurn(Searcher* searcher, RunningJob* job) : searcher_(searcher), job_(job) {}

  bool Continue() override {
    while (!job_->Stopped()) {
      searcher_->Account(job_, kShareInRange);
      if (searcher_->budget_.MayWork()) return true;
      const double share = std::max(searcher_->share_.load(), kShareInRange);
      searcher_->board_.clerk.WaitFor(searcher_->budget_.Pause(share));
    }
    return false;
  }
  void Found(uint64_t result) override { job_->Found(result); }

 private:
  Searcher* const searcher_;
  RunningJob* const job_;
};

Result<std::unique_ptr<Searcher>> Searcher::Start(const Options& options) {
  std::unique_ptr<Searcher> searcher(new Searcher(options));
  const std::vector<unsigned> cores = UsableCoreNumbers();
  const unsigned threads = options.threads != 0 ? options.threads : UsableCores();
  for (unsigned i = 0; i < threads; ++i) {
    // Fewer workers than cores go where a core is idle.
    const auto core = threads == cores.size() ? std::optional(cores[i]) : std::nullopt;
    AUGUR_TRY_ASSIGN(worker, IdleWorker::Start(&searcher->board_, core, options.idle_class));
    searcher->workers_.push_back(std::move(worker));
  }
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-search", [self = searcher.get()] { self->Run(); }));
  searcher->thread_ = std::move(thread);
  return searcher;
}

Searcher::~Searcher() {
  {
    const MutexLock lock(mu_);
    ends_ = true;
    for (const auto& job : queue_) job->Cancel();
    if (current_ != nullptr) current_->Cancel();
  }
  board_.clerk.Post();
  if (thread_.joinable()) thread_.join();
  // Then no worker has a job any more, and those in leaving_ can go.
  workers_.clear();
}

uint64_t Searcher::Submit(SearchJob job) {
  uint64_t number = 0;
  {
    const MutexLock lock(mu_);
    number = ++numbers_;
    queue_.push_back(std::make_unique<RunningJob>(number, std::move(job)));
    // From an on_done that is called on the way out.
    if (ends_) queue_.back()->Cancel();
  }
  board_.clerk.Post();
  return number;
}

void Searcher::Cancel(uint64_t number) {
  {
    const MutexLock lock(mu_);
    for (const auto& job : queue_) {
      if (job->number() == number) job->Cancel();
    }
    if (current_ != nullptr && current_->number() == number) current_->Cancel();
  }
  board_.clerk.Post();
}

std::optional<SearchProgress> Searcher::Progress(uint64_t number) const {
  const MutexLock lock(mu_);
  if (current_ != nullptr && current_->number() == number) return current_->Progress();
  const bool waits =
      std::any_of(queue_.begin(), queue_.end(), [&](const auto& job) { return job->number() == number; });
  return waits ? std::optional(SearchProgress{}) : std::nullopt;
}

void Searcher::AllowShare(double share) {
  AUGUR_CHECK(share >= 0 && share <= 1);
  share_.store(share);
  board_.clerk.Post();
}

void Searcher::Run() {
  AddNice(nice_);
  while (true) {
    Sweep();
    RunningJob* const job = Current();
    if (job == nullptr) {
      {
        const MutexLock lock(mu_);
        if (ends_ && queue_.empty()) return;
      }
      board_.clerk.Wait();
    } else if (job->Ended()) {
      Finish();
    } else {
      Pay(job);
    }
  }
}

// Forgets ended jobs that no worker has any more, and ends those that were cancelled while they waited.
void Searcher::Sweep() {
  std::erase_if(leaving_, [](const auto& job) { return job->workers.load(std::memory_order_acquire) == 0; });
  std::vector<std::unique_ptr<RunningJob>> cancelled;
  {
    const MutexLock lock(mu_);
    for (auto& job : queue_) {
      if (job->Stopped()) cancelled.push_back(std::move(job));
    }
    std::erase(queue_, nullptr);
  }
  for (const auto& job : cancelled) {
    if (job->job().on_done != nullptr) job->job().on_done(job->Outcome());
  }
}

// The job that is being searched; the next one begins where there is none. Null: nothing to do.
RunningJob* Searcher::Current() {
  const MutexLock lock(mu_);
  if (current_ == nullptr && !queue_.empty()) {
    current_ = std::move(queue_.front());
    queue_.pop_front();
    current_->Begin();
    for (const auto& worker : workers_) worker->Offer(current_.get());
    accounted_ = std::chrono::steady_clock::now();
    accounted_own_ = ThreadTime();
    accounted_idle_ns_ = board_.time_ns.load(std::memory_order_relaxed);
  }
  return current_.get();
}

void Searcher::Finish() {
  for (const auto& worker : workers_) worker->Retract();
  RunningJob* job = nullptr;
  {
    const MutexLock lock(mu_);
    job = current_.get();
    leaving_.push_back(std::move(current_));
  }
  if (job->job().on_done != nullptr) job->job().on_done(job->Outcome());
}

void Searcher::Pay(RunningJob* job) {
  const double share = share_.load();
  Account(job, 0);
  // What is left to do is in the hands of workers, who post when they are through.
  if (share <= 0 || job->Taken()) return board_.clerk.Wait();
  if (!budget_.MayWork()) return board_.clerk.WaitFor(budget_.Pause(share));
  ClerkTurn turn(this, job);
  job->WorkRange(turn);
  Account(job, 0);
}

double Searcher::PaidSeconds() const { return static_cast<double>(paid_ns_.load(std::memory_order_relaxed)) / 1e9; }

void Searcher::Account(RunningJob* job, double share_min) {
  const auto now = std::chrono::steady_clock::now();
  const auto own = ThreadTime();
  const int64_t idle_ns = board_.time_ns.load(std::memory_order_relaxed);
  const std::chrono::nanoseconds wall = now - accounted_;
  const double share = std::max(share_.load(), share_min);
  // What the idle workers had counts against the share, down to the least that is granted.
  const auto countable = static_cast<int64_t>(static_cast<double>(wall.count()) * (share - share_min));
  const int64_t idle = share_min > 0 ? std::min(idle_ns - accounted_idle_ns_, countable) : idle_ns - accounted_idle_ns_;
  budget_.Pass(wall, std::chrono::nanoseconds(idle), own - accounted_own_, share);
  job->AddTime(own - accounted_own_, true);
  paid_ns_.fetch_add((own - accounted_own_).count(), std::memory_order_relaxed);
  accounted_ = now;
  accounted_own_ = own;
  accounted_idle_ns_ = idle_ns;
}

}  // namespace augur
