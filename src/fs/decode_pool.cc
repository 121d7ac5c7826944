// SPDX-License-Identifier: Apache-2.0
#include "fs/decode_pool.h"

#include <utility>

#include "base/check.h"
#include "base/thread.h"

namespace augur {

Result<std::unique_ptr<DecodePool>> DecodePool::Start(unsigned threads) {
  AUGUR_CHECK(threads > 0);
  std::unique_ptr<DecodePool> pool(new DecodePool());
  for (unsigned i = 0; i < threads; ++i) {
    AUGUR_TRY_ASSIGN(thread, StartThread("augur-decode", [pool = pool.get()] { pool->Work(); }));
    pool->threads_.push_back(std::move(thread));
  }
  return pool;
}

DecodePool::~DecodePool() {
  {
    const MutexLock lock(mu_);
    ending_ = true;
    wake_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void DecodePool::Run(Urgency urgency, std::function<void()> work) {
  const MutexLock lock(mu_);
  queues_[static_cast<size_t>(urgency)].push_back(std::move(work));
  wake_.NotifyOne();
}

void DecodePool::Work() {
  while (true) {
    std::function<void()> work;
    {
      const MutexLock lock(mu_);
      while (!HasWork() && !ending_) wake_.Wait(mu_);
      if (!HasWork()) return;
      auto& queue = queues_[0].empty() ? queues_[1] : queues_[0];
      work = std::move(queue.front());
      queue.pop_front();
    }
    work();
  }
}

}  // namespace augur
