// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace augur {

// TaskQueue hands tasks to the threads that carry them out, in order. Safe from any thread. It has no maximum: those
// who add tasks have one.
template <typename Task>
class TaskQueue {
 public:
  TaskQueue() = default;
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  void Add(Task task) {
    const MutexLock lock(mu_);
    tasks_.push_back(std::move(task));
    changed_.NotifyOne();
  }
  // Before all tasks that wait.
  void AddNext(Task task) {
    const MutexLock lock(mu_);
    tasks_.push_front(std::move(task));
    changed_.NotifyOne();
  }
  // Waits for a task and takes it. Nothing: the queue is closed, and all tasks were taken.
  std::optional<Task> Take() {
    const MutexLock lock(mu_);
    while (tasks_.empty() && !closed_) changed_.Wait(mu_);
    if (tasks_.empty()) return std::nullopt;
    std::optional<Task> task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }
  // For good. Take waits no longer.
  void Close() {
    const MutexLock lock(mu_);
    closed_ = true;
    changed_.NotifyAll();
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::deque<Task> tasks_ AUGUR_GUARDED_BY(mu_);  // as many as those who add tasks allow
  bool closed_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
