// SPDX-License-Identifier: Apache-2.0
#include "store/shard_opener.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "base/thread.h"

namespace augur {

void ShardOpener::Settle() {
  std::optional<std::thread> thread;
  {
    const MutexLock lock(mu_);
    ending_ = true;
    thread = std::exchange(thread_, std::nullopt);
    wake_.NotifyOne();
  }
  if (thread) thread->join();
}

void ShardOpener::Locate(const Entry& file, uint64_t block, Done done) {
  if (std::optional<Extent> extent = store_->LocateOpen(file, block)) return done(*std::move(extent));
  {
    const MutexLock lock(mu_);
    if (!thread_ && !ending_) {
      if (Result<std::thread> thread = StartThread("augur-open", [this] { Run(); }); thread.ok()) {
        thread_ = std::move(thread).value();
      } else {
        spdlog::warn("shards are opened by who reads: {}", thread.status().text());
      }
    }
    if (thread_) {
      asked_.push_back({.file = file, .block = block, .done = std::move(done)});
      wake_.NotifyOne();
      return;
    }
  }
  done(store_->Locate(file, block));
}

void ShardOpener::Run() {
  while (true) {
    Asked asked;
    {
      const MutexLock lock(mu_);
      while (asked_.empty() && !ending_) wake_.Wait(mu_);
      if (asked_.empty()) return;
      asked = std::move(asked_.front());
      asked_.pop_front();
    }
    asked.done(store_->Locate(asked.file, asked.block));
  }
}

}  // namespace augur
