// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "augur/store.h"
#include "base/mutex.h"
#include "store/local_files.h"

namespace augur {

// ShardOpener gives open shards without a wait. A thread of its own, which begins when it is first needed, opens those
// that are not open. That takes calls which may wait for the disk, or for a server. Safe from any thread. There is no
// maximum of those who wait: each is a read with memory of its caller, which has one.
class ShardOpener {
 public:
  using Done = std::function<void(Result<std::shared_ptr<const LocalFile>>)>;

  // `store` has these files.
  ShardOpener(std::shared_ptr<const Store> store, const LocalFiles& files) : store_(std::move(store)), files_(files) {}
  ~ShardOpener() { Drain(); }
  ShardOpener(const ShardOpener&) = delete;
  ShardOpener& operator=(const ShardOpener&) = delete;

  // Calls `done`, before it returns when the shard is open, and else from the thread, with what
  // LocalFiles::OpenLocalShard gives. Where the system has no thread to give, it is opened here and now. REQUIRES: the
  // store has the shard.
  void Open(uint32_t shard, Done done) AUGUR_EXCLUDES(mu_);
  // The same as LocalFiles::ReopenLocalShard, and always from the thread if there is one.
  void Reopen(uint32_t shard, std::shared_ptr<const LocalFile> lost, Done done) AUGUR_EXCLUDES(mu_);

  // Waits until every `done` was called, and ends the thread: who asks later opens by himself.
  void Drain() AUGUR_EXCLUDES(mu_);

 private:
  struct Asked {
    uint32_t shard = 0;
    std::shared_ptr<const LocalFile> lost;  // of Reopen
    Done done;
  };

  void Ask(Asked asked) AUGUR_EXCLUDES(mu_);
  Result<std::shared_ptr<const LocalFile>> OpenNow(const Asked& asked) const;
  void Run() AUGUR_EXCLUDES(mu_);

  const std::shared_ptr<const Store> store_;
  const LocalFiles& files_;

  Mutex mu_;
  CondVar wake_;
  std::optional<std::thread> thread_ AUGUR_GUARDED_BY(mu_);
  std::deque<Asked> asked_ AUGUR_GUARDED_BY(mu_);  // one for each read that waits for its shard
  bool ending_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
