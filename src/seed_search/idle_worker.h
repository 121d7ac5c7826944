// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include "augur/status.h"
#include "seed_search/core_contention.h"
#include "seed_search/running_job.h"
#include "seed_search/wake.h"

namespace augur {

// What all workers of a Searcher tell its coordinator. Atomics only, since a worker may stand still anywhere.
struct WorkerBoard {
  std::atomic<unsigned> at_work{0};  // workers that have a job and do not stay away
  Wake coordinator;                  // posted when a worker has found something, or has nothing left to do
};

// IdleWorker is one thread of a Searcher that runs when its core has nothing else to do (SCHED_IDLE; where that is
// refused, nice 19). It leaves a core to whoever else wants it (CoreContention). Offer and Retract belong to the
// coordinator. The board must outlive it, a job must until its `workers` is 0.
class IdleWorker {
 public:
  // `core`: where it stays, if anywhere. Two workers that wait for one core would be courteous to each other: the
  // kernel wakes a worker where another one is running, since that core counts as idle (sched_idle_cpu).
  // `idle_class` false: a thread like any other. kNoSpace: no thread can be started.
  static Result<std::unique_ptr<IdleWorker>> Start(WorkerBoard* board, std::optional<unsigned> core, bool idle_class);
  // Waits until the range that it works on is done, or broken off because its job was stopped.
  ~IdleWorker();
  IdleWorker(const IdleWorker&) = delete;
  IdleWorker& operator=(const IdleWorker&) = delete;

  // It works on the job's ranges until none is left or the job has ended, as soon as it has left the job before.
  // REQUIRES: no earlier offer waits.
  void Offer(RunningJob* job);
  // Takes the offer back where it has not been taken up.
  void Retract();

 private:
  explicit IdleWorker(WorkerBoard* board) : board_(board) {}
  void Run(std::optional<unsigned> core, bool idle_class);

  // Constant after construction.
  WorkerBoard* const board_;
  const RunQueueLength run_queue_;
  std::thread thread_;
  // Own synchronization.
  Wake wake_;
  std::atomic<bool> ends_{false};
  // Whoever exchanges a job for nullptr has it: the worker to work on it, the coordinator to take it back.
  std::atomic<RunningJob*> offer_{nullptr};
};

}  // namespace augur
