// SPDX-License-Identifier: Apache-2.0
#include "cache/buffer_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace augur {
namespace {

constexpr size_t kGranule = BufferPool::kGranuleBytes;

TEST(BufferPool, RoundsUpAndAligns) {
  BufferPool pool(10 * kGranule);
  for (const auto& [asked, granules] : {std::pair<size_t, size_t>{0, 1}, {1, 1}, {kGranule, 1}, {kGranule + 1, 2}}) {
    Buffer buffer = pool.Allocate(asked);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(buffer.bytes(), granules * kGranule);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 4096, 0u);
    std::memset(buffer.data(), 7, buffer.bytes());
    EXPECT_EQ(pool.used_bytes(), buffer.bytes());
  }
  EXPECT_EQ(pool.used_bytes(), 0u);
}

TEST(BufferPool, RefusesBeyondTheLimit) {
  BufferPool pool(3 * kGranule + 100);
  EXPECT_TRUE(pool.CanEverHold(3 * kGranule));
  EXPECT_FALSE(pool.CanEverHold(3 * kGranule + 1));
  EXPECT_FALSE(pool.CanEverHold(SIZE_MAX));
  EXPECT_FALSE(pool.Allocate(3 * kGranule + 1));
  EXPECT_FALSE(pool.Allocate(SIZE_MAX));
  Buffer two = pool.Allocate(2 * kGranule);
  EXPECT_FALSE(pool.Allocate(2 * kGranule));
  const Buffer one = pool.Allocate(kGranule);
  EXPECT_TRUE(one);
  EXPECT_FALSE(pool.Allocate(1));
  EXPECT_EQ(pool.used_bytes(), 3 * kGranule);
  two = {};
  EXPECT_EQ(pool.used_bytes(), kGranule);
  EXPECT_TRUE(pool.Allocate(2 * kGranule));
}

TEST(BufferPool, JoinsNeighboursAgain) {
  BufferPool pool(4 * kGranule);
  std::vector<Buffer> ones(4);
  for (const size_t last :
       {0, 1, 2, 3}) {  // each of them once the last to be freed, between free neighbours or at an edge
    for (Buffer& one : ones) one = pool.Allocate(kGranule);
    EXPECT_FALSE(pool.Allocate(1));
    for (size_t i = 0; i < ones.size(); ++i) {
      if (i != last) ones[i] = {};
    }
    ones[last] = {};
    EXPECT_TRUE(pool.Allocate(4 * kGranule));
  }
}

TEST(BufferPool, ReusesMemoryBeforeItTouchesMore) {
  BufferPool pool(uint64_t{64} << 20);
  EXPECT_EQ(pool.touched_bytes(), 0u);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(pool.Allocate((1 + i % 17) * kGranule));
  EXPECT_LE(pool.touched_bytes(), uint64_t{2} << 20);
}

// Whatever the places, there is room for one more while fewer than blocks_max are out: buffers of 3 granules are put as
// badly as can be, each two granules away from the one before.
TEST(BufferPool, BlocksMaxHoldsForTheWorstPlaces) {
  constexpr size_t kBytes = 3 * kGranule;
  BufferPool pool(3 * kBytes + 4 * (2 * kGranule) + kGranule);  // three, four gaps of two, and one more granule
  EXPECT_EQ(pool.blocks_max(kBytes), 4u);
  EXPECT_EQ(BufferPool(2 * kGranule).blocks_max(kBytes), 0u);
  EXPECT_EQ(BufferPool(3 * kGranule).blocks_max(kBytes), 1u);
  std::vector<Buffer> held;
  std::vector<Buffer> spacers;
  for (int i = 0; i < 3; ++i) {
    spacers.push_back(pool.Allocate(2 * kGranule));
    held.push_back(pool.Allocate(kBytes));
    ASSERT_TRUE(spacers.back() && held.back());
  }
  spacers.clear();
  EXPECT_TRUE(pool.Allocate(kBytes));
}

TEST(BufferPool, BuffersMove) {
  BufferPool pool(4 * kGranule);
  Buffer a = pool.Allocate(1);
  std::byte* const data = a.data();
  Buffer b = std::move(a);
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(b.data(), data);
  Buffer c = pool.Allocate(1);
  c = std::move(b);  // its own is freed
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(pool.used_bytes(), kGranule);
  Buffer& self = c;
  c = std::move(self);
  EXPECT_EQ(c.data(), data);
}

TEST(BufferPool, TheHookSeesTheFreedMemory) {
  BufferPool pool(kGranule);
  int calls = 0;
  pool.SetFreeHook([&] {
    ++calls;
    EXPECT_EQ(pool.used_bytes(), 0u);  // and no lock is held
  });
  { const Buffer buffer = pool.Allocate(1); }
  EXPECT_EQ(calls, 1);
  pool.SetFreeHook({});
  { const Buffer buffer = pool.Allocate(1); }
  EXPECT_EQ(calls, 1);
}

// Who was refused tries again in the hook: what he gave back himself must not call it.
TEST(BufferPool, AllOrNone) {
  BufferPool pool(4 * kGranule);
  int calls = 0;
  pool.SetFreeHook([&] { ++calls; });
  const std::array<size_t, 3> sizes = {kGranule, 2 * kGranule, kGranule};
  {
    const Buffer other = pool.Allocate(kGranule);
    EXPECT_TRUE(pool.AllocateAll(sizes).empty());
    EXPECT_EQ(pool.used_bytes(), kGranule);
    EXPECT_EQ(calls, 0);
  }
  EXPECT_EQ(calls, 1);
  const std::vector<Buffer> all = pool.AllocateAll(sizes);
  ASSERT_EQ(all.size(), sizes.size());
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].bytes(), sizes[i]);
  EXPECT_EQ(pool.used_bytes(), 4 * kGranule);
  EXPECT_EQ(calls, 1);
}

TEST(BufferPool, AddressSpaceThatIsNotThereIsARefusal) {
  BufferPool pool(uint64_t{1} << 60);
  EXPECT_FALSE(pool.CanEverHold(1));
  EXPECT_FALSE(pool.Allocate(1));
  EXPECT_EQ(pool.used_bytes(), 0u);
  EXPECT_EQ(pool.touched_bytes(), 0u);
}

TEST(BufferPool, StaysBelowItsLimitWithManyThreads) {
  constexpr uint64_t kMax = 20 * kGranule;
  BufferPool pool(kMax);
  std::atomic<bool> stop = false;
  std::atomic<int> refused = 0;
  std::thread watcher([&] {
    while (!stop) EXPECT_LE(pool.touched_bytes(), kMax);
  });
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937_64 random(seed);
      std::vector<Buffer> held(6);
      for (int i = 0; i < 5000; ++i) {
        Buffer& slot = held[random() % held.size()];
        slot = pool.Allocate(random() % (4 * kGranule));
        if (!slot) {
          ++refused;
          continue;
        }
        // Nobody else has it: what we wrote at its ends stays until we let it go.
        const auto mark = static_cast<std::byte>(seed);
        slot.data()[0] = mark;
        slot.data()[slot.bytes() - 1] = mark;
        for (const Buffer& buffer : held) {
          if (buffer) {
            ASSERT_EQ(buffer.data()[0], mark);
            ASSERT_EQ(buffer.data()[buffer.bytes() - 1], mark);
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop = true;
  watcher.join();
  EXPECT_EQ(pool.used_bytes(), 0u);
  EXPECT_GT(refused, 0);  // the limit was met
}

}  // namespace
}  // namespace augur
