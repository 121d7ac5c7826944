// SPDX-License-Identifier: Apache-2.0
// Another process of the same user or group writes where it should not, at any moment, or makes the file shorter.
// Promise: blocks are not found, and nothing else: no wrong byte, no crash, no reader that waits for another process.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

#include "base/unique_fd.h"
#include "base/units.h"
#include "cache/retained_cache_layout.h"
#include "unit/cache/retained_cache_support.h"

namespace augur {
namespace {

using Inserted = RetainedCache::Inserted;
constexpr uint64_t kIds = 400;
constexpr uint64_t kFileBytes = 8 * kMiB;

// AUGUR_SCRIBBLE_SECONDS: how long to go on; without it, a number of steps.
std::chrono::seconds WantedTime() {
  const char* const text = std::getenv("AUGUR_SCRIBBLE_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  return std::chrono::seconds(text != nullptr ? std::strtol(text, nullptr, 10) : 0);
}

// Writes numbers that mean something, or nothing, over every part of the file, in bursts, until it is killed.
class Scribbler {
 public:
  // Some leave time to put blocks in and find them, some hardly any.
  Scribbler(const std::string& path, uint64_t seed) : random_(seed), pause_us_(100 << (2 * (seed % 4))) {
    fd_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    struct stat info {};
    if (::fstat(fd_.get(), &info) != 0) return;
    void* const mapped =
        ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    if (mapped == MAP_FAILED) return;
    base_ = static_cast<std::byte*>(mapped);
    const auto* const header = reinterpret_cast<const RetainedCacheHeader*>(base_);
    geometry_ = {.slab_count = header->slab_count.Load(), .bucket_count = header->bucket_count.Load()};
  }

  [[noreturn]] void Run() {
    if (base_ == nullptr) ::_exit(5);
    while (true) {
      for (uint64_t writes = random_() % 64; writes > 0; --writes) Write();
      ::usleep(static_cast<useconds_t>(random_() % pause_us_));
    }
  }

 private:
  // What an item, a page, a count or a size may be, and what it may not.
  uint32_t Number() {
    switch (random_() % 8) {
      case 0: return 0;
      case 1: return UINT32_MAX;
      case 2: return 1U << (random_() % 32);
      case 3: return geometry_.items_max() + static_cast<uint32_t>(random_() % 3) - 1;
      case 4: return static_cast<uint32_t>(random_() % (4 * kSlabPages));
      case 5: return static_cast<uint32_t>(random_() % 4);  // states
      case 6: return static_cast<uint32_t>(random_() % 20'000);
      default: return static_cast<uint32_t>(random_());
    }
  }

  void Write() {
    // The first slabs and items are the ones in use.
    constexpr uint64_t kSlabsInUse = 4;
    constexpr uint64_t kItemsInUse = 2 * kItemStep;
    uint64_t offset = 0;
    switch (random_() % 6) {
      case 0: offset = offsetof(RetainedCacheHeader, limit_bytes) + random_() % 80; break;
      case 1: offset = geometry_.slab_table_offset() + random_() % (kSlabsInUse * 4); break;
      case 2: offset = geometry_.buckets_offset() + random_() % (uint64_t{geometry_.bucket_count} * 4); break;
      case 3: offset = geometry_.items_offset() + random_() % (kItemsInUse * sizeof(RetainedCacheItem)); break;
      case 4: offset = geometry_.slab_offset(random_() % kSlabsInUse) + random_() % sizeof(SlabTable); break;
      default: offset = geometry_.slabs_offset() + random_() % (kSlabsInUse * kSlabBytes);
    }
    std::atomic_ref(*reinterpret_cast<uint32_t*>(base_ + offset / 4 * 4)).store(Number());
  }

  std::mt19937_64 random_;
  uint64_t pause_us_;
  UniqueFd fd_;
  std::byte* base_ = nullptr;
  RetainedCacheGeometry geometry_;
};

struct Figures {
  std::atomic<uint64_t> steps = 0;
  std::atomic<uint64_t> found = 0;
  std::atomic<uint64_t> missed = 0;
  std::atomic<uint64_t> wrong = 0;
};

class RetainedCacheScribbleTest : public testing::Test {
 protected:
  RetainedCacheFolder folder_;
};

void Step(RetainedCache& retained_cache, std::mt19937_64& random, Figures& figures) {
  const uint64_t id = random() % kIds;
  const uint64_t kind = random() % 1000;
  if (kind < 450) {
    const int found = FindRight(retained_cache, id);
    ++(found < 0 ? figures.wrong : found > 0 ? figures.found : figures.missed);
  } else if (kind < 800) {
    retained_cache.Insert(TestKey(id), TestBlock(id));
  } else if (kind < 900) {
    retained_cache.Erase(TestKey(id));
  } else if (kind < 980) {
    retained_cache.Contains(TestKey(id));
  } else if (kind < 985) {
    retained_cache.EvictUnknown(64 * kKiB, [](const RetainedCacheKey& key) { return key.identity.high % 2 == 0; });
  } else if (kind < 990) {
    retained_cache.List();
  } else if (kind < 995) {
    EXPECT_LE(retained_cache.used_bytes(), uint64_t{1} << 50);
    retained_cache.held_bytes();
    retained_cache.bytes_max();
    retained_cache.block_count();
  } else if (kind == 999) {
    retained_cache.Clear();
  }
  ++figures.steps;
}

TEST_F(RetainedCacheScribbleTest, WhatAnotherScribblesOverIsNotFound) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "scribbled tables give two threads the same memory, on purpose: checksums find it, not locks";
#endif
  constexpr int kRounds = 12;
  constexpr uint64_t kStepsARound = 1500;  // of each of two threads
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::chrono::seconds wanted = WantedTime();
  const auto end = std::chrono::steady_clock::now() + wanted;
  Figures figures;
  uint64_t rounds = 0;
  for (; wanted.count() > 0 ? std::chrono::steady_clock::now() < end : rounds < kRounds; ++rounds) {
    // Whatever the round before has left of it is taken over, or thrown away.
    std::vector<std::string> notes;
    const auto opened = RetainedCache::Open(folder_.options(kFileBytes), notes);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    RetainedCache& retained_cache = **opened;
    ASSERT_EQ(retained_cache.place(), RetainedCache::Place::kShm) << (notes.empty() ? "" : notes[0]);
    for (uint64_t id = 0; id < kIds / 4; ++id) retained_cache.Insert(TestKey(id), TestBlock(id));
    const std::string path = retained_cache.path();
    ChildProcess writer([&]() -> int { Scribbler(path, seed + rounds).Run(); });
    const auto read = [&](uint64_t thread) {
      std::mt19937_64 random(seed * 2 + thread + rounds * 1000);
      for (uint64_t step = 0; step < kStepsARound; ++step) Step(retained_cache, random, figures);
    };
    std::thread other([&] { read(1); });
    read(0);
    other.join();
    writer.Kill();
    EXPECT_EQ(writer.Wait(), 1000 + SIGKILL) << "it was scribbling to the end";
    ASSERT_EQ(figures.wrong, 0U);
  }
  EXPECT_GT(figures.found, 0U) << "there was something to find";
  EXPECT_GT(figures.missed, 0U);
  std::cout << "rounds " << rounds << ", steps " << figures.steps << ", found " << figures.found << ", missed "
            << figures.missed << ", wrong " << figures.wrong << "\n";
}

// Promise: a file that is made shorter is not the end of who has it open.
TEST_F(RetainedCacheScribbleTest, AFileThatIsCutIsLostAndNoMore) {
  for (const uint64_t left : {uint64_t{0}, uint64_t{4096}, 3 * kMiB}) {
    SCOPED_TRACE(left);
    std::vector<std::string> told;
    RetainedCache::Options options = folder_.options(kFileBytes);
    options.on_lost = [&told](const std::string& what) { told.push_back(what); };
    std::vector<std::string> notes;
    const auto opened = RetainedCache::Open(options, notes);
    ASSERT_TRUE(opened.ok());
    RetainedCache& retained_cache = **opened;
    ASSERT_EQ(retained_cache.place(), RetainedCache::Place::kShm);
    for (uint64_t id = 0; id < kIds; ++id) retained_cache.Insert(TestKey(id), TestBlock(id));
    ASSERT_EQ(FindRight(retained_cache, 1), 1);
    ASSERT_EQ(::truncate(retained_cache.path().c_str(), static_cast<off_t>(left)), 0);
    for (uint64_t id = 0; id < kIds; ++id) {
      EXPECT_GE(FindRight(retained_cache, id), 0);
      retained_cache.Insert(TestKey(id + kIds), TestBlock(id + kIds));
    }
    EXPECT_EQ(FindRight(retained_cache, 1), 0);
    EXPECT_EQ(retained_cache.Insert(TestKey(1), TestBlock(1)), Inserted::kNoRoom);
    EXPECT_FALSE(retained_cache.Contains(TestKey(1)));
    retained_cache.Clear();
    EXPECT_TRUE(retained_cache.List().empty());
    ASSERT_EQ(told.size(), 1U);
    EXPECT_NE(told[0].find(retained_cache.path()), std::string::npos) << told[0];
    // The next one begins anew.
    const auto next = RetainedCache::Open(folder_.options(kFileBytes), notes);
    ASSERT_TRUE(next.ok());
    EXPECT_EQ((*next)->place(), RetainedCache::Place::kShm);
    EXPECT_EQ((*next)->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
    EXPECT_EQ(FindRight(**next, 1), 1);
  }
}

// Holds the lock of the file's tables, as a process that was stopped would, from one Go to the next.
int HoldLock(const std::string& path, const StepPipe& commands, const StepPipe& held) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock {};
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  for (bool hold = true; commands.Await(); hold = !hold) {
    lock.l_type = hold ? F_WRLCK : F_UNLCK;
    while (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) ::usleep(10);
    held.Go();
  }
  return 0;
}

// One thread waits for the lock of the file. Another one asks something that needs no other process, and only when it
// has its answer is the lock let go of: so the first one finds its block, if it did not keep the other from asking.
TEST_F(RetainedCacheScribbleTest, WhoWaitsForAnotherProcessHoldsNobodyUp) {
  const auto retained_cache = folder_.Open(kFileBytes);
  ASSERT_EQ(retained_cache->Insert(TestKey(1), TestBlock(1)), Inserted::kYes);
  StepPipe commands;
  StepPipe held;
  ChildProcess holder([&] {
    commands.OnlyAwait();
    held.OnlyGo();
    return HoldLock(retained_cache->path(), commands, held);
  });
  commands.OnlyGo();
  held.OnlyAwait();
  constexpr int kAttempts = 20;  // on a busy machine a second may pass between two lines
  int found = 0;
  for (int attempt = 0; attempt < kAttempts && found == 0; ++attempt) {
    commands.Go();
    ASSERT_TRUE(held.Await());
    std::atomic<bool> waits = false;
    std::thread reader([&] {
      waits = true;
      found = FindRight(*retained_cache, 1);
    });
    while (!waits) ::sched_yield();
    ::usleep(20'000);  // it has come to wait
    EXPECT_TRUE(retained_cache->Contains(TestKey(1)));
    commands.Go();
    ASSERT_TRUE(held.Await());
    reader.join();
    EXPECT_EQ(FindRight(*retained_cache, 1), 1);
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace augur
