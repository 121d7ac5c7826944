// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "base/recycled_memory.h"
#include "cache/retained_cache_key.h"

namespace augur {

// RetainedCache keeps the bytes of record blocks until it is told to let them go: in memory of this process, or in a
// file in /dev/shm. All mounts of one store on this host by one user share the file, and a restarted daemon finds it
// again. RETAINED_CACHE.md has its layout, its locks, what a crash leaves, and why it is not LMDB. Safe from any
// thread, and from any number of processes up to 64. It never evicts by itself, never waits for the disk, and never for
// another process for longer than a second (Open: ten seconds). When a process is stopped while it holds the lock,
// blocks are not found and not taken until it goes on. A Pin may outlive the RetainedCache. Who forks after Open must
// close all descriptors in the child, or call nothing but exec: a copy of the descriptor keeps locks of a daemon that
// has died. Not for deciding which blocks are kept (prefetch), and not for records without bytes.
class RetainedCache {
 public:
  enum class Place { kRam, kShm };
  static constexpr unsigned kDaemonsMax = 64;  // that share one file
  static constexpr uint64_t kBytesMin = 4 << 20;

  struct Options {
    Place place = Place::kRam;
    std::string folder = "/dev/shm";  // of kShm
    // Names the store whose blocks these are: mounts with the same text share. The same store must have the same one
    // after every restart (its id, or its path without symbolic links), any bytes, 2,048 at most.
    std::string identity;
    // Where the store is, for SweepDebris: an absolute path, 1,024 bytes at most. Empty: never debris.
    std::string store_path;
    // What it may take with its tables. Several mounts of one store: the largest wish of those attached; a daemon that
    // comes alone sets it anew, keeps blocks up to that, and gives the other memory back.
    uint64_t bytes_max = 0;
    // Shared by the users of this group (file mode 0660): any of them can write to it, and RETAINED_CACHE.md says what
    // that lets them do.
    std::optional<gid_t> group;
    // Of kShm: the file stays when the last daemon leaves, for the next one. Without it that one removes the file. Of
    // those attached one that asks is enough; a daemon that comes alone says anew.
    bool outlives = true;
    // Told once, when the shared memory cannot be used any more: its file was made shorter by another process. From
    // then on nothing is found and nothing is kept. On any thread, without a lock held. May be empty.
    std::function<void(const std::string& what)> on_lost;
    // Bytes that could be used now without an end by the kernel; asked while it grows. Empty: MachineMemory().
    std::function<uint64_t()> memory_available;
  };

  // Opens or makes the retained cache. What had to be done otherwise than asked is told in `notes`, each a whole
  // sentence for a log. A smaller size: little memory is left, or /dev/shm is small or full. Memory of this process
  // instead of /dev/shm: that is full or missing, or the file of that name is another user's, a symbolic link, or not
  // to be trusted. A damaged file that was replaced by an empty one. kNoSpace: not even the smallest one (4 MiB) fits;
  // go without. kInvalid: the identity is empty or too long, or the path is too long.
  static Result<std::unique_ptr<RetainedCache>> Open(const Options& options, std::vector<std::string>& notes);
  // The last of the daemons that share a file removes it, unless it is to outlive them. One that is killed leaves it.
  ~RetainedCache();
  RetainedCache(const RetainedCache&) = delete;
  RetainedCache& operator=(const RetainedCache&) = delete;

 private:
  friend class RetainedCacheOpener;
  struct Parts;

 public:
  using Pieces = std::span<const std::span<const std::byte>>;
  using Check = std::function<bool(Pieces)>;

  // Keeps the bytes of a block: no process frees or changes them before it is destroyed. In memory of this
  // process they stay where they are; shared ones are a copy, since another process could change them there after the
  // check. Movable; may be destroyed on any thread.
  class Pin {
   public:
    Pin(Pin&& other) noexcept;
    Pin& operator=(Pin&& other) noexcept;
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    ~Pin();

    // The block's bytes, in order. Neighbours are joined: mostly one piece; at worst one each 4 KiB.
    Pieces pieces() const { return pieces_; }
    uint64_t bytes() const { return bytes_; }
    // Leaves out what comes after the first `bytes`. REQUIRES: there are as many.
    void Shorten(uint64_t bytes);

   private:
    friend class RetainedCache;
    friend struct Parts;
    Pin() = default;
    void Copy();  // the bytes into memory of its own
    void Let();   // lets the item go

    std::shared_ptr<Parts> parts_;  // empty when it has no item
    uint32_t item_ = 0;
    uint64_t bytes_ = 0;
    RecycledMemory::Piece<std::byte> copy_;
    std::vector<std::span<const std::byte>> pieces_;
  };

  // Present: its bytes, as many as key.bytes. `check` is called once, without a lock held, when the memory is shared,
  // or this process has neither inserted nor checked these bytes. If it says false, the block is thrown away and
  // nothing is returned. Absent, or being inserted: nothing.
  std::optional<Pin> Find(const RetainedCacheKey& key, const Check& check);

  // Whether Find would find it. Takes no lock of the file, so it may be wrong while another process makes a change.
  bool Contains(const RetainedCacheKey& key) const;

  enum class Inserted {
    kYes,
    kPresent,  // it is there already, or is being inserted
    kNoRoom,   // the limit is reached, or the machine has no more memory to give: Erase something, or go without
  };
  // Copies the bytes of `pieces`, one after the other (without a lock held). No bytes: kNoRoom. REQUIRES: they are
  // key.bytes.
  Inserted InsertPieces(const RetainedCacheKey& key, Pieces pieces);
  Inserted Insert(const RetainedCacheKey& key, std::span<const std::byte> bytes) {
    return InsertPieces(key, {&bytes, 1});
  }

  // Frees the block. False: there is none, or it is pinned or being inserted by a process that lives.
  bool Erase(const RetainedCacheKey& key);

  // Frees blocks that are not `known` until their room comes to `bytes`, or there are none. A former run has left them,
  // or this process has put them in for something else. Blocks that this process has not put in stay if they came after
  // another daemon that is attached: they may be that one's. `known` is called under the lock, so it must be quick.
  // Returns the room that was freed.
  uint64_t EvictUnknown(uint64_t bytes, const std::function<bool(const RetainedCacheKey&)>& known);

  // Frees every block but those that Erase would not, and gives their memory back to the machine. Returns the bytes of
  // the blocks freed.
  uint64_t Clear();

  // Every block that Find would find; what a planner needs to know after a warm start.
  std::vector<RetainedCacheKey> List() const;

  // The place in use. It may differ from Options::place, as bytes_max() may from Options::bytes_max.
  Place place() const;
  // Empty for kRam.
  const std::string& path() const;
  // Bytes of blocks, each rounded up to 4 KiB: a block takes RoomFor(bytes). Whether a block has room is
  // used_bytes() + RoomFor(bytes) <= bytes_max(), as long as the machine has the memory. May grow when another daemon
  // comes.
  uint64_t bytes_max() const;
  uint64_t used_bytes() const;
  static uint64_t RoomFor(uint64_t bytes);
  uint64_t block_count() const;
  // Memory that it holds for blocks and tables now, used or not (file and tables; shared ones count once a host).
  uint64_t held_bytes() const;
  // What the machine has given for it: of kShm the memory of the whole file, however large that says it is.
  uint64_t taken_bytes() const;
  // Of it, tables, beside what this process keeps for itself.
  uint64_t table_bytes() const;
  // Daemons that are attached now, this one included.
  unsigned attached() const;

  // Memory that the file of these options holds already; 0 when there is none, and for kRam. Whoever works out a wish
  // from the memory that is available adds this: a daemon that starts again would else ask for less than is there.
  static uint64_t HeldAlready(const Options& options);

  // Removes files in `folder` that are this user's, that no daemon is attached to, and whose store is gone. Also those
  // that no one can use: made before the last boot, or damaged. A store out of another mount namespace (a container's)
  // counts as gone after a day without a daemon. Returns the paths that were removed.
  static std::vector<std::string> SweepDebris(const std::string& folder);

 private:
  explicit RetainedCache(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<Parts> parts_;
};

}  // namespace augur
