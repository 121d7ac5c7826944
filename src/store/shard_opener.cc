// SPDX-License-Identifier: Apache-2.0
#include "store/shard_opener.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "base/thread.h"

namespace augur {

void ShardOpener::Drain() {
  std::optional<std::thread> thread;
  {
    const MutexLock lock(mu_);
    ending_ = true;
    thread = std::exchange(thread_, std::nullopt);
    wake_.NotifyOne();
  }
  if (thread) thread->join();
}

void ShardOpener::Open(uint32_t shard, Done done) {
  if (std::shared_ptr<const LocalFile> opened = files_.OpenedShard(shard)) return done(std::move(opened));
  {
    const MutexLock lock(mu_);
    if (!thread_ && !ending_) {
      if (Result<std::thread> thread = StartThread("augur-open", [this] { Run(); }); thread.ok()) {
        thread_ = std::move(thread).value();
      } else {
        spdlog::warn("no thread for opening shards, so readers open them and may wait: {}", thread.status().text());
      }
    }
    if (thread_) {
      asked_.push_back({.shard = shard, .done = std::move(done)});
      wake_.NotifyOne();
      return;
    }
  }
  done(OpenNow(shard));
}

Result<std::shared_ptr<const LocalFile>> ShardOpener::OpenNow(uint32_t shard) const {
  AUGUR_TRY_ASSIGN(info, store_->Shard(shard));
  return files_.OpenLocalShard(info);
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
    asked.done(OpenNow(asked.shard));
  }
}

}  // namespace augur
