// SPDX-License-Identifier: Apache-2.0
#include "cache/record_cache.h"

#include <atomic>
#include <deque>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/units.h"

namespace augur {
namespace {

struct KeyHash {
  size_t operator()(const BlockKey& key) const { return key.Spread(); }
};

// A load that has its buffer.
struct Start {
  RecordCache::Load load;
  Buffer buffer;
  RecordCache::Loaded loaded;
};

// Calls the loads, but those that a load brings about on this thread only after it: a chain in which each `load` ends
// at once and lets the next one start would otherwise grow the stack by every link.
void RunStarts(std::vector<Start> starts) {
  thread_local std::deque<Start>* running = nullptr;
  std::deque<Start> own;
  std::deque<Start>& queue = running != nullptr ? *running : own;
  for (Start& start : starts) queue.push_back(std::move(start));
  if (running != nullptr) return;
  running = &own;
  while (!own.empty()) {
    Start start = std::move(own.front());
    own.pop_front();
    start.load(std::move(start.buffer), std::move(start.loaded));
  }
  running = nullptr;
}

}  // namespace

// One mutex for all: a hit takes it twice (Get, and the end of the BlockRef), measured at 80 ns in all by one thread
// and at 3.7 to 12 million hits a second by two that do nothing else. The FUSE request around a hit costs 20 us and
// more.
//
// An entry is in one of four states:
//   waiting  in waiters_, without memory      loading  `load` has its buffer
//   used     has a block with handles > 0     idle     has a block, handles == 0, in idle_
// A handle is what all BlockRefs of one hand-out share; when the last of them goes, its deleter comes back here.
//
// The pool is only called without mu_, since it calls us back when a buffer is freed (Pump). One thread at a time is
// the pump, so that memory goes to the first in the queue and no other one passes it by.
struct RecordCache::Parts : std::enable_shared_from_this<RecordCache::Parts> {
  struct Entry {
    const BlockKey* key = nullptr;
    CachedBlock block;
    bool present = false;
    uint64_t handles = 0;
    std::weak_ptr<const CachedBlock> shared;  // the hand-out under way
    std::vector<Done> joined;                 // one for each who waits for the load
    std::list<Entry*>::iterator idle;         // valid when present && handles == 0
  };
  struct Waiter {
    Entry* entry = nullptr;
    size_t bytes = 0;
    Load load;
    bool counted = false;  // among waits
  };

  Parts(BufferPool& p, uint64_t idle_max) : pool(p), idle_bytes_max(idle_max) {}

  Found Get(const BlockKey& key, size_t buffer_bytes, Load load, Done done);
  Loaded Claim(const BlockKey& key, Done done);
  void Pump();
  bool PumpOne(std::vector<Start>& starts, std::vector<std::pair<std::vector<Done>, Status>>& refused)
      AUGUR_EXCLUDES(mu);
  bool EvictOne() AUGUR_EXCLUDES(mu);
  Loaded LoadedOnce(Entry* entry);
  void EndLoad(Entry& entry, Result<CachedBlock> loaded);
  void EndHandle(Entry& entry);
  BlockRef HandOut(Entry& entry) AUGUR_REQUIRES(mu);
  void BecomeIdle(Entry& entry) AUGUR_REQUIRES(mu);
  void NoLongerIdle(Entry& entry) AUGUR_REQUIRES(mu);
  CachedBlock Take(Entry& entry) AUGUR_REQUIRES(mu);
  std::vector<Done> Remove(Entry& entry) AUGUR_REQUIRES(mu);

  BufferPool& pool;
  const uint64_t idle_bytes_max;

  mutable Mutex mu{LockRank::kMiddle};
  std::unordered_map<BlockKey, Entry, KeyHash> entries AUGUR_GUARDED_BY(mu);  // entries stay where they are
  // Least recently used first. At most idle_bytes_max in all: beyond, the first ones are evicted.
  std::list<Entry*> idle AUGUR_GUARDED_BY(mu);
  uint64_t idle_bytes AUGUR_GUARDED_BY(mu) = 0;  // of their buffers
  // One for each block that a READ or the rendering of a file wants, while no buffer is free for it.
  std::deque<Waiter> waiters AUGUR_GUARDED_BY(mu);
  bool pumping AUGUR_GUARDED_BY(mu) = false;
  bool pump_again AUGUR_GUARDED_BY(mu) = false;  // something has changed since the pump looked
  CacheCounters counters AUGUR_GUARDED_BY(mu);
};

RecordCache::Found RecordCache::Parts::Get(const BlockKey& key, size_t buffer_bytes, Load load, Done done) {
  BlockRef hit;
  {
    const MutexLock lock(mu);
    const auto [at, fresh] = entries.try_emplace(key);
    Entry& entry = at->second;
    if (!fresh) {
      ++counters.hits;
      if (!entry.present) {
        entry.joined.push_back(std::move(done));
        return Found::kLoading;
      }
      hit = HandOut(entry);
    } else if (!pool.CanEverHold(buffer_bytes)) {
      entries.erase(at);
    } else {
      ++counters.misses;
      entry.key = &at->first;
      entry.joined.push_back(std::move(done));
      waiters.push_back({.entry = &entry, .bytes = buffer_bytes, .load = std::move(load)});
      done = nullptr;
    }
  }
  if (hit) {
    done(std::move(hit));
    return Found::kPresent;
  }
  if (done) {
    done(Status(Code::kNoSpace, "a block of " + FormatSize(buffer_bytes) + " does not fit in the memory of " +
                                    FormatSize(pool.bytes_max()) + " that records may use: raise the memory limit"));
  } else {
    Pump();
  }
  return Found::kAbsent;
}

RecordCache::Loaded RecordCache::Parts::Claim(const BlockKey& key, Done done) {
  const MutexLock lock(mu);
  const auto [at, fresh] = entries.try_emplace(key);
  if (!fresh) return {};
  Entry& entry = at->second;
  entry.key = &at->first;
  entry.joined.push_back(std::move(done));
  return LoadedOnce(&entry);
}

// Gives memory to those who wait for it, in their order, until there is none left, and then starts their loads. Called
// whenever a waiter, an idle block or free memory is new.
void RecordCache::Parts::Pump() {
  {
    const MutexLock lock(mu);
    if (waiters.empty()) return;
    pump_again = true;
    if (pumping) return;  // who pumps will look again
    pumping = true;
  }
  std::vector<Start> starts;
  std::vector<std::pair<std::vector<Done>, Status>> refused;
  while (PumpOne(starts, refused)) continue;
  RunStarts(std::move(starts));
  for (auto& [joined, status] : refused) {
    for (const Done& done : joined) done(status);
  }
}

// One try for the first waiter. False: nothing more to do, and this thread is the pump no longer.
bool RecordCache::Parts::PumpOne(std::vector<Start>& starts,
                                 std::vector<std::pair<std::vector<Done>, Status>>& refused) {
  size_t bytes = 0;
  {
    const MutexLock lock(mu);
    if (waiters.empty()) {
      pumping = false;
      return false;
    }
    pump_again = false;
    bytes = waiters.front().bytes;
  }
  // When no buffer is in use before and after a refusal, none will be given back, and it is final.
  const bool unused_before = pool.used_bytes() == 0;
  Buffer buffer = pool.Allocate(bytes);
  if (!buffer && EvictOne()) return true;
  const bool pool_unused = !buffer && unused_before && pool.used_bytes() == 0;

  const MutexLock lock(mu);
  if (buffer) {
    Waiter first = std::move(waiters.front());
    waiters.pop_front();
    starts.push_back({.load = std::move(first.load), .buffer = std::move(buffer), .loaded = LoadedOnce(first.entry)});
    return true;
  }
  if (pump_again) return true;
  if (pool_unused) {
    const Waiter first = std::move(waiters.front());
    waiters.pop_front();
    refused.emplace_back(Remove(*first.entry),
                         Status(Code::kNoSpace, "the system gives no memory for a block of " + FormatSize(bytes) +
                                                    ": raise ulimit -v, or set vm.overcommit_memory to 0"));
    ++counters.failures;
    return true;
  }
  for (auto waiter = waiters.rbegin(); waiter != waiters.rend() && !waiter->counted; ++waiter) {
    waiter->counted = true;
    ++counters.waits;
  }
  pumping = false;
  return false;
}

// Gives the least recently used idle block's memory back to the pool. False: there is none.
bool RecordCache::Parts::EvictOne() {
  CachedBlock evicted;  // freed after the lock, since the pool calls Pump
  const MutexLock lock(mu);
  if (idle.empty()) return false;
  evicted = Take(*idle.front());
  ++counters.evicted;
  return true;
}

// What a loader calls when it is done; a second call is a bug and stops the program.
RecordCache::Loaded RecordCache::Parts::LoadedOnce(Entry* entry) {
  auto pending = std::make_shared<std::atomic<Entry*>>(entry);
  return [self = shared_from_this(), pending = std::move(pending)](Result<CachedBlock> loaded) {
    Entry* const at = pending->exchange(nullptr);
    AUGUR_CHECK(at != nullptr);
    self->EndLoad(*at, std::move(loaded));
  };
}

void RecordCache::Parts::EndLoad(Entry& entry, Result<CachedBlock> loaded) {
  const Status status = loaded.status();
  std::vector<Done> joined;
  BlockRef block;
  {
    const MutexLock lock(mu);
    AUGUR_CHECK(!entry.present);
    if (loaded.ok()) {
      AUGUR_CHECK(static_cast<bool>(*loaded));
      entry.block = std::move(loaded).value();
      entry.present = true;
      joined = std::exchange(entry.joined, {});
      BecomeIdle(entry);  // for HandOut
      block = HandOut(entry);
    } else {
      ++counters.failures;
      joined = Remove(entry);
    }
  }
  for (Done& done : joined) {
    if (block) {
      // The last one gets our own reference, so that the block is idle as soon as they have let it go.
      done(&done == &joined.back() ? std::move(block) : block);
    } else {
      done(status);
    }
  }
}

// The end of the last BlockRef of a hand-out.
void RecordCache::Parts::EndHandle(Entry& entry) {
  bool wanted = false;
  std::vector<CachedBlock> evicted;  // freed after the lock, since the pool calls Pump
  {
    const MutexLock lock(mu);
    AUGUR_CHECK(entry.handles > 0);
    if (--entry.handles > 0) return;
    BecomeIdle(entry);
    if (entry.block.in_chunk()) evicted.push_back(Take(entry));
    while (idle_bytes > idle_bytes_max) {
      evicted.push_back(Take(*idle.front()));
      ++counters.evicted;
    }
    wanted = !waiters.empty();
  }
  evicted.clear();
  if (wanted) Pump();
}

// A reference to a block that is present, which is then not idle.
BlockRef RecordCache::Parts::HandOut(Entry& entry) {
  if (BlockRef shared = entry.shared.lock()) return shared;
  // It has no holder, or its last one is on the way to EndHandle: then there are two handles for a moment.
  if (entry.handles++ == 0) NoLongerIdle(entry);
  BlockRef fresh(&entry.block, [self = shared_from_this(), at = &entry](const CachedBlock*) { self->EndHandle(*at); });
  entry.shared = fresh;
  return fresh;
}

void RecordCache::Parts::BecomeIdle(Entry& entry) {
  idle.push_back(&entry);
  entry.idle = std::prev(idle.end());
  idle_bytes += entry.block.own_bytes();
}

void RecordCache::Parts::NoLongerIdle(Entry& entry) {
  idle.erase(entry.idle);
  idle_bytes -= entry.block.own_bytes();
}

// Takes an idle block out of the cache.
CachedBlock RecordCache::Parts::Take(Entry& entry) {
  NoLongerIdle(entry);
  CachedBlock block = std::move(entry.block);
  AUGUR_CHECK(entry.handles == 0 && entry.joined.empty());
  entries.erase(BlockKey(*entry.key));
  return block;
}

// Takes an entry that never got its block out; who had joined it is handed over.
std::vector<RecordCache::Done> RecordCache::Parts::Remove(Entry& entry) {
  AUGUR_CHECK(entry.handles == 0 && !entry.present);
  std::vector<Done> joined = std::move(entry.joined);
  entries.erase(BlockKey(*entry.key));
  return joined;
}

RecordCache::RecordCache(BufferPool& pool, uint64_t idle_bytes_max)
    : parts_(std::make_shared<Parts>(pool, idle_bytes_max)) {
  pool.SetFreeHook([parts = parts_] { parts->Pump(); });
}

RecordCache::~RecordCache() {
  parts_->pool.SetFreeHook({});
  const MutexLock lock(parts_->mu);
  AUGUR_CHECK(parts_->idle.size() == parts_->entries.size());
  parts_->idle.clear();
  parts_->entries.clear();
}

RecordCache::Found RecordCache::Get(const BlockKey& key, size_t buffer_bytes, Load load, Done done) {
  AUGUR_CHECK(load != nullptr && done != nullptr);
  return parts_->Get(key, buffer_bytes, std::move(load), std::move(done));
}

RecordCache::Loaded RecordCache::Claim(const BlockKey& key, Done done) {
  AUGUR_CHECK(done != nullptr);
  return parts_->Claim(key, std::move(done));
}

uint64_t RecordCache::blocks_max(size_t buffer_bytes) const { return parts_->pool.blocks_max(buffer_bytes); }

CacheCounters RecordCache::counters() const {
  const MutexLock lock(parts_->mu);
  return parts_->counters;
}

uint64_t RecordCache::idle_blocks() const {
  const MutexLock lock(parts_->mu);
  return parts_->idle.size();
}

uint64_t RecordCache::busy_blocks() const {
  const MutexLock lock(parts_->mu);
  return parts_->entries.size() - parts_->idle.size();
}

}  // namespace augur
