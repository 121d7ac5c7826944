// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "augur/status.h"
#include "base/task_queue.h"
#include "cache/record_cache.h"
#include "prefetch/page_sink.h"
#include "prefetch/retained_blocks.h"
#include "prefetch/view_file.h"

namespace augur {

// PushQueue has the threads that push files into the page cache and drop them from it, in the order in which they were
// asked to. Safe from any thread. REQUIRES: what it is given outlives it.
class PushQueue {
 public:
  struct Push {
    ViewFile file;
    std::vector<BlockRef> blocks;  // none: the retained cache has them
  };
  // Both are called on a thread of the queue. `lost`: the bytes were not where they were thought to be; then `outcome`
  // says nothing.
  using Pushed = std::function<void(Push push, PushOutcome outcome, bool lost)>;
  using Dropped = std::function<void(EntryNumber file)>;

  // `retained` may be nullptr: there is no retained cache.
  PushQueue(RetainedBlocks* retained, Pushed pushed, Dropped dropped);
  // Stops.
  ~PushQueue();
  PushQueue(const PushQueue&) = delete;
  PushQueue& operator=(const PushQueue&) = delete;

  // kNoSpace: the system gives no thread.
  Status Start(PageSink* sink, unsigned threads);
  // Ends the threads, after all that was asked is done.
  void Stop();

  // REQUIRES of both: started.
  void Add(Push push);
  void AddDrops(std::span<const EntryNumber> files);

 private:
  struct Task {
    std::optional<Push> push;
    EntryNumber drop = 0;  // when there is none
  };
  void Run();
  PushOutcome PushAll(const Push& push, bool* lost);

  // Constant after Start.
  RetainedBlocks* const retained_;
  const Pushed pushed_;
  const Dropped dropped_;
  PageSink* sink_ = nullptr;

  // Own synchronization.
  // Pushes: kPushesAhead at most (PushedPages). Drops: one for each file of the push window.
  TaskQueue<Task> tasks_;

  std::vector<std::thread> threads_;
};

}  // namespace augur
