// SPDX-License-Identifier: Apache-2.0
#include "seed_search/idle_worker.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "base/check.h"
#include "base/cores.h"
#include "base/thread.h"
#include "seed_search/core_contention.h"

namespace augur {
namespace {

// Who stays away looks so often whether the job has ended: 20 times a second, and up to 30 times in the longest pause
// (1.5 s). At 30 us for a thread that wakes it is 0.06 % of a core.
constexpr std::chrono::nanoseconds kNap = std::chrono::milliseconds(50);

// An unprivileged thread may enter the idle class, but not leave it (RLIMIT_NICE), so a thread stays in it for life.
void EnterIdleClass() {
  const sched_param parameters{};
  if (sched_setscheduler(0, SCHED_IDLE, &parameters) != 0) {
    // The next best, which nothing forbids.
    (void)setpriority(PRIO_PROCESS, 0, kLowestNice);
  }
}

class IdleTurn final : public SearchTurn {
 public:
  // What a courteous worker looks at.
  struct Signs {
    const RunDelay* delay;
    const RunQueueLength* run_queue;
  };
  IdleTurn(RunningJob* job, WorkerBoard* board, std::optional<Signs> signs, uint32_t seed)
      : job_(job), board_(board), signs_(signs), core_contention_(seed) {
    board_->at_work.fetch_add(1, std::memory_order_relaxed);
  }
  ~IdleTurn() override {
    board_->at_work.fetch_sub(1, std::memory_order_relaxed);
    Account();
  }
  IdleTurn(const IdleTurn&) = delete;
  IdleTurn& operator=(const IdleTurn&) = delete;

  bool Continue() override {
    const auto own = Account();
    if (const auto away = Away(own); away.count() > 0) StayAway(away);
    return !job_->Stopped();
  }
  void Found(uint64_t result) override {
    job_->Found(result);
    board_->coordinator.Post();
  }

 private:
  // Processor time since the last call.
  std::chrono::nanoseconds Account() {
    const auto own = ThreadTime() - last_;
    job_->AddTime(own);
    last_ += own;
    return own;
  }

  std::chrono::nanoseconds Away(std::chrono::nanoseconds own) {
    if (!signs_) return {};
    CoreContention::Look look{.own = own,
                              .excess_threads = signs_->run_queue->Now(),
                              .workers = board_->at_work.load(std::memory_order_relaxed)};
    if (const auto delayed = signs_->delay->Total()) {
      if (delayed_) look.waited = *delayed - *delayed_;
      delayed_ = delayed;
    }
    return core_contention_.Pass(look);
  }

  void StayAway(std::chrono::nanoseconds away) {
    board_->at_work.fetch_sub(1, std::memory_order_relaxed);
    for (; away.count() > 0 && !job_->Stopped(); away -= kNap) std::this_thread::sleep_for(std::min(away, kNap));
    board_->at_work.fetch_add(1, std::memory_order_relaxed);
  }

  RunningJob* const job_;
  WorkerBoard* const board_;
  const std::optional<Signs> signs_;
  CoreContention core_contention_;
  std::optional<std::chrono::nanoseconds> delayed_;
  std::chrono::nanoseconds last_ = ThreadTime();
};

}  // namespace

Result<std::unique_ptr<IdleWorker>> IdleWorker::Start(WorkerBoard* board, std::optional<unsigned> core,
                                                      bool idle_class) {
  std::unique_ptr<IdleWorker> worker(new IdleWorker(board));
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-idle", [=, self = worker.get()] { self->Run(core, idle_class); }));
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

void IdleWorker::Run(std::optional<unsigned> core, bool idle_class) {
  // Where it may not, it runs anywhere.
  if (core) (void)StayOnCore(*core);
  if (idle_class) EnterIdleClass();
  const RunDelay delay;
  std::minstd_rand seed(core.value_or(0) + 1);
  while (true) {
    wake_.Wait();
    if (ends_.load()) return;
    RunningJob* const job = offer_.exchange(nullptr, std::memory_order_acq_rel);
    if (job == nullptr) continue;
    {
      const auto signs =
          idle_class ? std::optional(IdleTurn::Signs{.delay = &delay, .run_queue = &run_queue_}) : std::nullopt;
      IdleTurn turn(job, board_, signs, static_cast<uint32_t>(seed()));
      while (job->WorkRange(turn) && turn.Continue()) {
      }
    }
    // From here on the coordinator may free the job.
    job->workers.fetch_sub(1, std::memory_order_acq_rel);
    board_->coordinator.Post();
  }
}

}  // namespace augur
