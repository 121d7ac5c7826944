// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "base/task_queue.h"
#include "cache/record_cache.h"
#include "prefetch/retained_blocks.h"
#include "prefetch/view_file.h"

namespace augur {

// RetainThread has the thread that copies files into the retained cache and evicts others, in the order of asking. A
// copy of 100 KB takes 10 us, and ten times that if the memory is touched for the first time, so no other thread should
// wait for it. Safe from any thread. REQUIRES: `retained` outlives it.
class RetainThread {
 public:
  // First some files are evicted, then one is taken in.
  struct Task {
    std::vector<ViewFile> evict;
    std::optional<ViewFile> file;
    std::vector<BlockRef> blocks;    // of `file`
    std::function<void()> work;      // instead, when not empty: something else with the retained cache
    std::function<void(bool)> done;  // when not empty: called on the thread at the end; whether it has the file now
  };

  explicit RetainThread(RetainedBlocks& retained) : retained_(retained) {}
  // Stops.
  ~RetainThread();
  RetainThread(const RetainThread&) = delete;
  RetainThread& operator=(const RetainThread&) = delete;

  // kNoSpace: the system gives no thread.
  Status Start();
  // Ends the thread, after all that was asked is done.
  void Stop();

  // REQUIRES of both: started.
  void Add(Task task) { tasks_.Add(std::move(task)); }
  // Before all tasks that were added and are not begun.
  void AddNext(Task task) { tasks_.AddNext(std::move(task)); }

 private:
  void Run();
  bool Retain(const Task& task);

  // Constant after construction.
  RetainedBlocks& retained_;

  // Own synchronization.
  // Copies: at most as many as the memory of the prefetch holds blocks for (RetainedFiles). Evictions: one for each
  // file that is kept. Work: one for each request of the control socket, and one.
  TaskQueue<Task> tasks_;

  // Used by the thread only.
  std::vector<ViewFile> to_evict_;  // one for each that was in use when it was to go

  std::thread thread_;
};

}  // namespace augur
