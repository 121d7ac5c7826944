// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "cache/record_cache.h"

namespace augur {
namespace {

constexpr size_t kGranule = BufferPool::kGranuleBytes;

// Runs tasks on threads of its own, in an order of its own. The destructor runs what is left.
class RandomOrder {
 public:
  RandomOrder(int threads, uint64_t seed) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this, s = seed + static_cast<uint64_t>(i)] { Run(s); });
  }
  ~RandomOrder() {
    {
      const MutexLock lock(mu_);
      stop_ = true;
    }
    work_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
  }
  RandomOrder(const RandomOrder&) = delete;
  RandomOrder& operator=(const RandomOrder&) = delete;

  void Add(std::function<void()> task) {
    {
      const MutexLock lock(mu_);
      tasks_.push_back(std::move(task));
    }
    work_.NotifyOne();
  }

 private:
  void Run(uint64_t seed) {
    std::mt19937_64 random(seed);
    mu_.Lock();
    for (;;) {
      while (tasks_.empty() && !stop_) work_.Wait(mu_);
      if (tasks_.empty()) break;
      std::swap(tasks_[random() % tasks_.size()], tasks_.back());
      std::function<void()> task = std::move(tasks_.back());
      tasks_.pop_back();
      mu_.Unlock();
      task();
      task = nullptr;
      mu_.Lock();
    }
    mu_.Unlock();
  }

  Mutex mu_;
  CondVar work_;
  std::vector<std::function<void()>> tasks_ AUGUR_GUARDED_BY(mu_);
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

// What the block of a key must hold: its number in every 4 KiB.
void Fill(Buffer& buffer, uint64_t key) {
  for (size_t at = 0; at < buffer.bytes(); at += 4096) std::memcpy(buffer.data() + at, &key, sizeof(key));
}
bool Holds(const CachedBlock& block, uint64_t key) {
  for (size_t at = 0; at < block.bytes(); at += 4096) {
    if (std::memcmp(block.span().data() + at, &key, sizeof(key)) != 0) return false;
  }
  return true;
}

// Many threads ask at random for more blocks than the pool has room for; loads end on other threads in any order, some
// at once and some with a failure; blocks are held for a while. Every callback must come, with the right bytes, and in
// the end nothing is in use.
void Stress(uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  constexpr int kThreads = 6;
  constexpr int kGets = 4000;
  constexpr uint64_t kKeys = 40;
  BufferPool pool(12 * kGranule);
  std::atomic<int> done = 0;
  std::atomic<int> failed = 0;
  std::atomic<int> wrong = 0;
  std::atomic<int> too_large = 0;
  std::atomic<uint64_t> loads = 0;
  std::atomic<bool> over = false;
  RecordCache cache(pool);
  {
    RandomOrder holders(1, seed + 200);  // outlives the loaders, which give it work
    RandomOrder loaders(2, seed + 100);
    const auto load = [&](uint64_t key, Buffer buffer, RecordCache::Loaded loaded) {
      const uint64_t luck = (loads++ * 0x9E3779B97F4A7C15ull + seed) >> 60;  // 0 to 15
      if (pool.touched_bytes() > pool.bytes_max()) over = true;
      const auto end = [key, luck, shared = std::make_shared<Buffer>(std::move(buffer)), loaded = std::move(loaded)] {
        if (luck == 0) {
          *shared = {};
          loaded(Status(Code::kIo, "before"));
        } else if (luck == 1) {
          loaded(Status(Code::kIo, "buffer freed after"));
        } else {
          Fill(*shared, key);
          const size_t bytes = shared->bytes();
          loaded(CachedBlock(std::move(*shared), 0, bytes));
        }
      };
      if (luck == 2) {
        end();
      } else {
        loaders.Add(end);
      }
    };
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937_64 random(seed * 100 + t);
        for (int i = 0; i < kGets; ++i) {
          const uint64_t key = random() % kKeys;
          const uint64_t hold = random() % 4;
          const size_t bytes = key == 7 ? 13 * kGranule : (key % 5 + 1) * kGranule;
          cache.Get(
              {.offset = key, .size = 1}, bytes,
              [&load, key](Buffer buffer, RecordCache::Loaded loaded) {
                load(key, std::move(buffer), std::move(loaded));
              },
              [&, key, hold](Result<BlockRef> result) {
                if (result.ok()) {
                  if (!Holds(**result, key)) ++wrong;
                  if (hold == 0) {
                    holders.Add([block = std::move(*result), key, &wrong] {
                      if (!Holds(*block, key)) ++wrong;
                    });
                  }
                } else if (result.status().code() == Code::kNoSpace) {
                  ++too_large;
                } else {
                  ++failed;
                }
                ++done;
              });
          // Sometimes let the queue grow long, sometimes let it drain.
          if (random() % 16 == 0) {
            while (cache.busy_blocks() > random() % kKeys) std::this_thread::yield();
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    // A load may start another one on a loader's thread, so they are asked to end only when nothing is under way.
    while (done < kThreads * kGets) std::this_thread::yield();
  }
  EXPECT_EQ(done, kThreads * kGets);
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(failed, 0);
  EXPECT_GT(too_large, 0);
  EXPECT_FALSE(over);
  EXPECT_EQ(cache.busy_blocks(), 0u);
  const CacheCounters counters = cache.counters();
  EXPECT_EQ(counters.misses, loads);
  EXPECT_EQ(counters.hits + counters.misses + static_cast<uint64_t>(too_large), uint64_t{kThreads} * kGets);
  EXPECT_GT(counters.evicted, 0u);
  EXPECT_GT(counters.waits, 0u);
  // What is used is what the idle blocks have: take each out of the cache's hands to see its size.
  uint64_t idle_bytes = 0;
  for (uint64_t key = 0; key < kKeys; ++key) {
    bool present = false;
    BlockRef block;
    cache.Get(
        {.offset = key, .size = 1}, SIZE_MAX, [](Buffer, const RecordCache::Loaded&) { FAIL(); },
        [&](Result<BlockRef> result) {
          present = result.ok();
          if (present) block = std::move(*result);
        });
    if (present) idle_bytes += block->own_bytes();
  }
  EXPECT_EQ(pool.used_bytes(), idle_bytes);
}

TEST(RecordCacheStress, EveryCallbackComesAndNothingStaysInUse) {
  for (uint64_t seed = 1; seed <= 5; ++seed) Stress(seed);
}

}  // namespace
}  // namespace augur
