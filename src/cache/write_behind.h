// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "cache/disk_cache.h"

namespace augur {

// WriteBehind puts values into a disk cache on a thread of its own, and looks every second at what other daemons have
// put there. Nothing waits for it: what the disk does not keep up with is left out. Safe from any thread. REQUIRES: the
// cache outlives it.
class WriteBehind {
 public:
  using Clock = std::chrono::steady_clock;

  // A value, and what keeps its bytes alive.
  struct Value {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;  // key.size of them
    std::function<bool()> is_right;    // asked on the thread before the value is written; empty: it is
  };
  // Each function is called on the thread.
  struct Options {
    const char* thread = "";                            // its name, 15 letters at most
    uint64_t waiting_bytes_max = 0;                     // of values that wait to be written
    std::function<void()> on_written;                   // a value was put in
    std::function<void(const Status&)> on_failure;      // the disk refused one: once
    std::function<void(const std::string&)> on_notice;  // as DiskCache::Refresh says
  };

  WriteBehind(DiskCache& cache, Options options) : cache_(cache), options_(std::move(options)) {}
  // Stops. What still waits is left out.
  ~WriteBehind() { (void)Stop(Clock::time_point::min()); }
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  // Begins to write. kNoSpace: the system gives no thread. REQUIRES: no other thread of this process will fork.
  Status Start();
  // Takes no more values, writes those that wait, and ends the thread. After `write_until` it begins no further write:
  // the values that still wait are left out, and their number is returned. The write that is under way then is waited
  // for, however long the disk takes. REQUIRES: no Offer is under way.
  size_t Stop(Clock::time_point write_until) AUGUR_EXCLUDES(mu_);

  // Takes the value that `make` gives. False: the cache has it, or it waits already, or waiting_bytes_max is reached,
  // as the disk does not keep up; `make` is not called then. When no other value waits, one may be larger than that.
  bool Offer(const DiskCacheKey& key, const std::function<Value()>& make) AUGUR_EXCLUDES(mu_);

 private:
  struct Task {
    DiskCacheKey key;
    Value value;
  };
  struct HashOfKey {
    size_t operator()(const DiskCacheKey& key) const { return key.hash.low; }
  };

  void Run() AUGUR_EXCLUDES(mu_);
  void Write(const Task& task) AUGUR_EXCLUDES(mu_);

  // Constant after construction, or with its own synchronization.
  DiskCache& cache_;
  const Options options_;

  Mutex mu_;
  CondVar added_;
  // At most Options::waiting_bytes_max of values, or one that is larger: Offer refuses others.
  std::deque<Task> tasks_ AUGUR_GUARDED_BY(mu_);
  // Of tasks_, of those that are being made, and of the one that is being written.
  std::unordered_set<DiskCacheKey, HashOfKey> waiting_ AUGUR_GUARDED_BY(mu_);
  uint64_t waiting_bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  bool stopping_ AUGUR_GUARDED_BY(mu_) = false;
  Clock::time_point write_until_ AUGUR_GUARDED_BY(mu_);  // when stopping_

  bool failure_told_ = false;  // used by the thread only

  std::thread thread_;
};

}  // namespace augur
