// SPDX-License-Identifier: Apache-2.0
#include "search/idle_worker.h"

#include <sched.h>
#include <sys/resource.h>

#include <utility>

#include "base/check.h"
#include "base/thread.h"

namespace augur {
namespace {

constexpr int kNiceMax = 19;

// An unprivileged thread may enter the idle class, but not leave it (RLIMIT_NICE), so a thread stays in it for life.
void EnterIdleClass() {
  const sched_param parameters{};
  if (sched_setscheduler(0, SCHED_IDLE, &parameters) != 0) {
    // The next best, which nothing forbids.
    (void)setpriority(PRIO_PROCESS, 0, kNiceMax);
  }
}

class IdleTurn final : public SearchTurn {
 public:
  IdleTurn(RunningJob* job, WorkerBoard* board) : job_(job), board_(board) {}
  ~IdleTurn() override { Account(); }
  IdleTurn(const IdleTurn&) = delete;
  IdleTurn& operator=(const IdleTurn&) = delete;

  bool Continue() override {
    Account();
    return !job_->Stopped();
  }
  void Found(uint64_t result) override {
    job_->Found(result);
    board_->clerk.Post();
  }

 private:
  void Account() {
    const auto now = ThreadTime();
    job_->AddTime(now - last_, false);
    board_->time_ns.fetch_add((now - last_).count(), std::memory_order_relaxed);
    last_ = now;
  }

  RunningJob* const job_;
  WorkerBoard* const board_;
  std::chrono::nanoseconds last_ = ThreadTime();
};

}  // namespace

Result<std::unique_ptr<IdleWorker>> IdleWorker::Start(WorkerBoard* board, bool idle_class) {
  std::unique_ptr<IdleWorker> worker(new IdleWorker(board));
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-idle", [self = worker.get(), idle_class] { self->Run(idle_class); }));
  worker->thread_ = std::move(thread);
  return worker;
}

IdleWorker::~IdleWorker() {
  if (!thread_.joinable()) return;
  ends_.store(true);
  wake_.Post();
  thread_.join();
}

void IdleWorker::Offer(RunningJob* job) {
  job->workers.fetch_add(1, std::memory_order_relaxed);
  AUGUR_CHECK(offer_.exchange(job, std::memory_order_acq_rel) == nullptr);
  wake_.Post();
}

void IdleWorker::Retract() {
  if (RunningJob* const job = offer_.exchange(nullptr, std::memory_order_acq_rel); job != nullptr) {
    job->workers.fetch_sub(1, std::memory_order_relaxed);
  }
}

void IdleWorker::Run(bool idle_class) {
  if (idle_class) EnterIdleClass();
  while (true) {
    wake_.Wait();
    if (ends_.load()) return;
    RunningJob* const job = offer_.exchange(nullptr, std::memory_order_acq_rel);
    if (job == nullptr) continue;
    {
      IdleTurn turn(job, board_);
      while (job->WorkRange(turn) && turn.Continue()) {
      }
    }
    // From here on the clerk may free the job.
    job->workers.fetch_sub(1, std::memory_order_acq_rel);
    board_->clerk.Post();
  }
}

}  // namespace augur
