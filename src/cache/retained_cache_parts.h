// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/unique_fd.h"
#include "cache/retained_cache.h"
#include "cache/retained_cache_lock.h"
#include "cache/retained_cache_memory.h"
#include "cache/retained_cache_tables.h"

namespace augur {

// What a RetainedCache and its pins are made of; goes when the last of them does, and with it the slot and its pins.
struct RetainedCache::Parts {
  Parts(RetainedCacheMemory memory_, RetainedCacheGeometry geometry, RetainedCacheLock lock_, RetainedCacheRoom room_)
      : memory(std::move(memory_)), tables(memory.base(), geometry), lock(lock_), room(std::move(room_)) {}

  // What this process alone knows of an item.
  struct Local {
    uint64_t checked = 0;  // sequence of the item when this process inserted or checked it
    uint32_t pins = 0;
    bool inserted = false;  // that one
  };
  Local& local(uint32_t item) AUGUR_REQUIRES(mu);
  void Pin(uint32_t item) AUGUR_REQUIRES(mu);
  void Unpin(uint32_t item) AUGUR_REQUIRES(mu);
  // Whether anyone who lives has it pinned; takes the pins of the dead off. REQUIRES: the file's lock too.
  bool PinnedByTheLiving(uint32_t item) AUGUR_REQUIRES(mu);
  // Items from this sequence on may be another's that is attached. REQUIRES: the file's lock too.
  uint64_t OthersSince() AUGUR_REQUIRES(mu);
  // Frees doomed items; whether there were any.
  bool ReapDoomed() AUGUR_REQUIRES(mu);
  // Gets memory of what Take lacks for a block of `pages`. True: try again. False: there is none.
  bool Grow(uint64_t pages) AUGUR_EXCLUDES(mu, room_mu);
  // An item to pin, as it is; nothing: there is none, or its bytes are not there. REQUIRES: the file's lock too.
  std::optional<std::pair<uint32_t, RetainedCacheTables::Item>> FindReady(const RetainedCacheKey& key)
      AUGUR_REQUIRES(mu);
  // Lets the tables have the items that the header speaks of, up to the end of the file's memory for them.
  void LetItems() AUGUR_REQUIRES(mu);
  // This daemon is done: removes the file if no other daemon has it and it is not to stay.
  void Leave() AUGUR_EXCLUDES(mu);
  // Tells on_lost, once, when the memory is lost.
  void TellIfLost() AUGUR_EXCLUDES(mu);
  // Throws away an item whose bytes are wrong, and this process's pin on it.
  void Discard(uint32_t item, uint64_t sequence) AUGUR_EXCLUDES(mu);
  // Frees those that are not pinned, of a number of items from `item` on; their bytes are added to `freed`.
  // Returns the item to go on with, or kNoItem at the end.
  uint32_t ClearSome(uint32_t item, uint64_t& freed) AUGUR_EXCLUDES(mu);
  // Of the items from `item` on, a number of them: frees those that EvictUnknown should, and adds their room to
  // `freed`, until that is `bytes`. Returns as ClearSome does.
  uint32_t EvictSome(uint32_t item, uint64_t bytes, const std::function<bool(const RetainedCacheKey&)>& known,
                     uint64_t& freed) AUGUR_EXCLUDES(mu);
  // As RetainedCache::Clear.
  uint64_t Clear() AUGUR_EXCLUDES(mu);
  // As ClearSome with empty slabs, whose memory it gives back.
  uint32_t PunchSome(uint32_t slab) AUGUR_EXCLUDES(mu);

  std::vector<RetainedCacheKey> List() AUGUR_EXCLUDES(mu);

  // Constant after Open.
  Place place = Place::kRam;
  std::string path;
  UniqueFd fd;
  unsigned slot = 0;
  uint64_t slot_bit = 1;

  std::function<void(const std::string&)> on_lost;

  // Own synchronization (parts of it are changed only by who holds mu and the file's lock).
  RetainedCacheMemory memory;
  std::atomic<bool> lost_told = false;

  // Held by who asks for room, for no more than some file reads.
  Mutex room_mu;

  // mu, and within it the lock of the file, shut out all others from the tables. No thread holds mu while it waits for
  // the lock of the file: another process has that, and may be stopped.
  mutable Mutex mu;
  RetainedCacheTables tables AUGUR_GUARDED_BY(mu);
  RetainedCacheLock lock AUGUR_GUARDED_BY(mu);
  std::vector<Local> locals AUGUR_GUARDED_BY(mu);

  RetainedCacheRoom room AUGUR_GUARDED_BY(room_mu);

  class Inside;

  // Tells at the end of a scope, where no lock is held any more.
  class Teller {
   public:
    explicit Teller(Parts& parts) : parts_(parts) {}
    ~Teller() { parts_.TellIfLost(); }
    Teller(const Teller&) = delete;
    Teller& operator=(const Teller&) = delete;

   private:
    Parts& parts_;
  };
};

// Holds both locks for a scope, and makes whole what a process that died has left. Not ok(): another process holds the
// file's lock for too long, or the memory is lost; the tables must not be touched.
class AUGUR_SCOPED_CAPABILITY RetainedCache::Parts::Inside {
 public:
  explicit Inside(Parts& parts) AUGUR_ACQUIRE(parts.mu);
  ~Inside() AUGUR_RELEASE();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  bool ok() const { return ok_; }

 private:
  Parts& parts_;
  bool ok_;
};

}  // namespace augur
