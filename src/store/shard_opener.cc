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
  Ask({.shard = shard, .lost = nullptr, .done = std::move(done)});
}

void ShardOpener::Reopen(uint32_t shard, std::shared_ptr<const LocalFile> lost, Done done) {
  Ask({.shard = shard, .lost = std::move(lost), .done = std::move(done)});
}

void ShardOpener::Ask(Asked asked) {
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
      asked_.push_back(std::move(asked));
      wake_.NotifyOne();
      return;
    }
  }
  asked.done(OpenNow(asked));
}

Result<std::shared_ptr<const LocalFile>> ShardOpener::OpenNow(const Asked& asked) const {
  AUGUR_TRY_ASSIGN(info, store_->Shard(asked.shard));
  if (asked.lost != nullptr) return files_.ReopenLocalShard(info, *asked.lost);
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
    asked.done(OpenNow(asked));
  }
}

}  // namespace augur
