// SPDX-License-Identifier: Apache-2.0
#include "seed_search/searcher.h"

#include <algorithm>
#include <utility>

#include "base/cores.h"
#include "base/thread.h"

namespace augur {

Result<std::unique_ptr<Searcher>> Searcher::Start(const Options& options) {
  std::unique_ptr<Searcher> searcher(new Searcher());
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
  board_.coordinator.Post();
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
  board_.coordinator.Post();
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
  board_.coordinator.Post();
}

std::optional<SearchProgress> Searcher::Progress(uint64_t number) const {
  const MutexLock lock(mu_);
  if (current_ != nullptr && current_->number() == number) return current_->Progress();
  const bool waits =
      std::any_of(queue_.begin(), queue_.end(), [&](const auto& job) { return job->number() == number; });
  return waits ? std::optional(SearchProgress{}) : std::nullopt;
}

void Searcher::Run() {
  while (true) {
    Sweep();
    RunningJob* const job = Current();
    if (job != nullptr && job->Ended()) {
      Finish();
      continue;
    }
    if (job == nullptr) {
      const MutexLock lock(mu_);
      if (ends_ && queue_.empty()) return;
    }
    // Workers post when they are through, and so does who cancels.
    board_.coordinator.Wait();
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

}  // namespace augur
