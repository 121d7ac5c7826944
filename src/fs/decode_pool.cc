// SPDX-License-Identifier: Apache-2.0
#include "fs/decode_pool.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/thread.h"

namespace augur {

Result<std::unique_ptr<DecodePool>> DecodePool::Start(unsigned ahead, unsigned demand) {
  AUGUR_CHECK(ahead > 0);
  std::unique_ptr<DecodePool> pool(new DecodePool());
  pool->ahead_ = ahead;
  for (unsigned i = 0; i < ahead + demand; ++i) {
    const bool only_demand = i >= ahead;
    AUGUR_TRY_ASSIGN(thread,
                     StartThread("augur-decode", [pool = pool.get(), only_demand] { pool->Work(only_demand); }));
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

void DecodePool::Run(Urgency urgency, std::function<void()> work, const void* subject) {
  const MutexLock lock(mu_);
  Of(urgency).push_back({std::move(work), subject});
  if (urgency == Urgency::kDemand) {
    wake_.NotifyOne();  // any of them does this; to wake all for each image is a crowd where there are many cores
  } else {
    wake_.NotifyAll();  // one alone might be of those that do not do this
  }
}

void DecodePool::Hurry(const void* subject) {
  const MutexLock lock(mu_);
  Queue& ahead = Of(Urgency::kAhead);
  const auto item = std::ranges::find(ahead, subject, &Item::subject);
  if (item == ahead.end()) return;
  Of(Urgency::kDemand).push_back(std::move(*item));
  ahead.erase(item);
  wake_.NotifyOne();
}

DecodePool::Queue* DecodePool::Next(bool only_demand) {
  for (Queue& queue : std::span(queues_).first(only_demand ? 1 : kUrgencies)) {
    if (!queue.empty()) return &queue;
  }
  return nullptr;
}

void DecodePool::Work(bool only_demand) {
  while (true) {
    std::function<void()> work;
    {
      const MutexLock lock(mu_);
      Queue* queue = nullptr;
      while ((queue = Next(only_demand)) == nullptr && !ending_) wake_.Wait(mu_);
      if (queue == nullptr) return;
      work = std::move(queue->front().work);
      queue->pop_front();
    }
    work();
  }
}

}  // namespace augur
