// SPDX-License-Identifier: Apache-2.0
#include "cache/retained_cache_opener.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <ctime>
#include <functional>
#include <limits>
#include <utility>

#include "base/units.h"
#include "cache/retained_cache_file.h"

namespace augur {
namespace {

// Another daemon that opens the same file verifies and rebuilds it: about 30 ms a GiB.
constexpr unsigned kWaitAtOpenMs = 10'000;

// One bucket for 64 KiB: chains of two for blocks of 110 KB, at 0.006 % of the memory.
constexpr uint64_t kBytesPerBucket = 64 * kKiB;

RetainedCacheGeometry GeometryFor(uint64_t limit_bytes, uint64_t capacity_bytes) {
  const uint64_t slabs = std::clamp<uint64_t>(capacity_bytes / kSlabBytes, 1, kSlabCountMax);
  const uint64_t buckets = std::clamp<uint64_t>(limit_bytes / kBytesPerBucket, 1024, 1 << 24);
  return {.slab_count = static_cast<uint32_t>(slabs), .bucket_count = static_cast<uint32_t>(std::bit_ceil(buckets))};
}

uint64_t Sum(uint64_t a, uint64_t b) { return a > std::numeric_limits<uint64_t>::max() - b ? ~uint64_t{0} : a + b; }

// What it may take: the wish, or what the machine has beside what the retained cache holds already.
uint64_t LimitFor(const RetainedCache::Options& options, uint64_t held, RetainedCacheRoom& room,
                  std::vector<std::string>& notes) {
  const uint64_t room_bytes = Sum(held, room.bytes());
  if (room_bytes >= options.bytes_max) return options.bytes_max;
  std::string note =
      "the cache may take " + FormatSize(room_bytes) + " instead of " + FormatSize(options.bytes_max) + ": ";
  if (room.folder_is_less()) {
    note += options.folder + " has no more room (it has " + FormatSize(room.folder_bytes()) + ", and " +
            FormatSize(room.left_in_folder()) +
            " are left to others); a larger one is given by a remount with size=, by docker run --shm-size, or by an "
            "emptyDir with medium: Memory";
  } else {
    note +=
        "this machine, or the memory cgroup of this process, has no more memory to give; raise its limit, or ask for "
        "less";
  }
  notes.push_back(std::move(note));
  return room_bytes;
}

Status TooSmall(uint64_t limit) {
  return {Code::kNoSpace, "the cache needs " + FormatSize(RetainedCache::kBytesMin) + " at least, and may take " +
                              FormatSize(limit) + ": free memory or raise the limit"};
}

// Makes sure that everything the tables speak of has memory; slabs that cannot have any are dropped. kCorrupt: the
// tables speak of more than the file holds. REQUIRES: no other process is attached.
Status CommitAll(RetainedCacheMemory& memory, RetainedCacheTables& tables, uint64_t held_bytes) {
  const RetainedCacheGeometry& geometry = tables.geometry();
  const uint64_t item_bytes = uint64_t{tables.item_high()} * sizeof(RetainedCacheItem);
  uint64_t claimed = geometry.fixed_bytes() + item_bytes;
  for (uint32_t slab = 0; slab < geometry.slab_count; ++slab) {
    if (tables.pages().slab_present(slab)) claimed += kSlabBytes;
  }
  if (claimed > held_bytes) return {Code::kCorrupt, "its tables claim more memory than it has"};
  // A hole is looked for once for all slabs before it, as that takes as long as there is memory up to it.
  uint64_t committed_until = memory.CommittedUntil(geometry.items_offset());
  if (committed_until < geometry.items_offset() + item_bytes) {
    AUGUR_TRY(memory.Commit(geometry.items_offset(), item_bytes));
  }
  for (uint32_t slab = 0; slab < geometry.slab_count; ++slab) {
    const uint64_t offset = geometry.slab_offset(slab);
    if (!tables.pages().slab_present(slab) || offset + kSlabBytes <= committed_until) continue;
    committed_until = memory.CommittedUntil(offset);
    if (offset + kSlabBytes <= committed_until) continue;
    if (!memory.Commit(offset, kSlabBytes).ok()) tables.pages().DropSlab(slab);
  }
  return Status::Ok();
}

// Gives back the slabs that are beyond the limit, the emptiest first; Rebuild throws away what had a page in one of
// them. kCorrupt: tables of a larger limit leave too little of this one. REQUIRES: no other process is attached.
Status Shrink(RetainedCacheMemory& memory, RetainedCacheTables& tables, uint64_t limit_bytes) {
  const RetainedCacheGeometry& geometry = tables.geometry();
  const uint64_t slabs_max = tables.pages_max() / kSlabDataPages;
  if (slabs_max * kSlabBytes < limit_bytes / 2) {
    return {Code::kCorrupt, "it was made for more memory, and its tables would take most of the new limit"};
  }
  // Fetched before they are compared: a sort of numbers that change has no bounds.
  struct Slab {
    uint32_t number;
    uint32_t free;
  };
  std::vector<Slab> slabs;
  for (uint32_t slab = geometry.slab_count; slab-- > 0;) {
    const uint32_t free = tables.pages().slab_free(slab);
    if (free != kSlabAbsent) slabs.push_back({.number = slab, .free = free});
  }
  if (slabs.size() <= slabs_max) return Status::Ok();
  std::ranges::stable_sort(slabs, std::greater(), &Slab::free);
  slabs.resize(slabs.size() - slabs_max);
  for (const Slab& slab : slabs) {
    tables.pages().DropSlab(slab.number);
    memory.Punch(geometry.slab_offset(slab.number), kSlabBytes);
  }
  return Status::Ok();
}

// What the header says bounds what this process may come to hold for it: numbers of items, and addresses. A file made
// in this file system is no larger than that, but the file system may have been made smaller since.
bool IsTooLarge(const RetainedCacheGeometry& geometry, uint64_t limit, const RetainedCacheRoom& room) {
  constexpr uint64_t kSmallerSince = 4;
  const uint64_t most = std::max(limit, room.folder_bytes());
  return room.folder_bytes() != 0 && geometry.slab_count / kSmallerSince > most / kSlabBytes + 1;
}

}  // namespace

RetainedCacheOpener::RetainedCacheOpener(const RetainedCache::Options& options, std::vector<std::string>& notes)
    : options_(options), notes_(notes), path_(RetainedCachePath(options.folder, options.identity, options.group)) {}

Result<std::shared_ptr<RetainedCache::Parts>> RetainedCacheOpener::Open() {
  if (options_.identity.empty() || options_.identity.size() > kRetainedCacheIdentityMax ||
      options_.store_path.size() > kRetainedCachePathMax) {
    return Status(Code::kInvalid,
                  "the path of the store is empty, or too long for the cache: " + Printable(options_.store_path));
  }
  if (options_.place == RetainedCache::Place::kShm) {
    Result<std::shared_ptr<Parts>> parts = Shared();
    if (parts.ok()) return parts;
    notes_.push_back("the cache is in memory of this process, and goes with it: " + parts.status().text());
  }
  return InProcess();
}

Result<std::shared_ptr<RetainedCache::Parts>> RetainedCacheOpener::InProcess() {
  RetainedCacheRoom room(-1, options_.memory_available);
  const uint64_t limit = LimitFor(options_, 0, room, notes_);
  if (limit < RetainedCache::kBytesMin) return TooSmall(limit);
  const RetainedCacheGeometry geometry = GeometryFor(limit, limit);
  AUGUR_TRY_ASSIGN(memory, RetainedCacheMemory::OfProcess(geometry.total_bytes(), geometry.slabs_offset()));
  AUGUR_TRY(memory.Commit(0, geometry.fixed_bytes()));
  RetainedCacheLock alone(-1);
  alone.TakeSlot();
  auto parts = std::make_shared<Parts>(std::move(memory), geometry, alone, std::move(room));
  const MutexLock lock(parts->mu);
  parts->tables.Format(options_.identity, {});
  parts->tables.header().limit_bytes.Store(limit);
  return parts;
}

Result<RetainedCacheOpener::Attached> RetainedCacheOpener::Attach() {
  constexpr int kTries = 16;
  for (int tries = 0; tries < kTries; ++tries) {
    Attached at;
    AUGUR_TRY_ASSIGN(fd, OpenRetainedCacheFile(path_, options_.group));
    at.fd = std::move(fd);
    at.lock = RetainedCacheLock(at.fd.get());
    if (!at.lock.Lock(kWaitAtOpenMs)) {
      return Status(Code::kBusy,
                    path_ + ": cannot be locked: a process that has it open may be stopped; end or continue it");
    }
    struct stat info {};
    if (!StillNamed(path_, at.fd.get())) continue;
    if (::fstat(at.fd.get(), &info) != 0) return ErrnoStatus(errno, path_);
    at.slot = at.lock.TakeSlot();
    if (at.slot == RetainedCacheLock::kSlots) {
      return Status(Code::kBusy,
                    path_ + ": " + std::to_string(RetainedCacheLock::kSlots) + " daemons share it already");
    }
    at.others = at.lock.LiveSlots() & ~(uint64_t{1} << at.slot);
    at.held_bytes = static_cast<uint64_t>(info.st_blocks) * 512;
    at.is_new = info.st_size == 0;
    const Result<RetainedCacheGeometry> geometry = CheckRetainedCacheFile(at.fd.get(), options_.identity);
    if (at.is_new || geometry.ok()) return at;
    // Not made shorter, as another daemon may have it mapped: those keep the nameless one.
    if (::unlink(path_.c_str()) != 0) return ErrnoStatus(errno, path_ + ": cannot be replaced");
    notes_.push_back("the cache in " + path_ + " was thrown away: " + geometry.status().text());
  }
  return Status(Code::kBusy, path_ + ": another program makes and removes it again and again: end that program");
}

Result<std::shared_ptr<RetainedCache::Parts>> RetainedCacheOpener::Shared() {
  for (const bool last : {false, true}) {
    AUGUR_TRY_ASSIGN(at, Attach());
    const bool is_new = at.is_new;
    RetainedCacheRoom room(at.fd.get(), options_.memory_available);
    std::vector<std::string> limit_notes;
    const uint64_t limit = LimitFor(options_, at.held_bytes, room, limit_notes);
    Result<std::shared_ptr<Parts>> parts = TooSmall(limit);
    if (limit >= RetainedCache::kBytesMin) {
      parts = is_new ? Make(std::move(at), limit, std::move(room)) : TakeOver(std::move(at), limit, std::move(room));
    } else if (is_new) {
      ::unlink(path_.c_str());
    }
    if (parts.ok()) {
      notes_.insert(notes_.end(), limit_notes.begin(), limit_notes.end());
      return parts;
    }
    if (last || parts.status().code() != Code::kCorrupt) return parts.status().In(path_);
    notes_.push_back("the cache in " + path_ + " was thrown away: " + parts.status().text());
  }
  return Status(Code::kCorrupt, path_);
}

Result<std::shared_ptr<RetainedCache::Parts>> RetainedCacheOpener::Make(Attached at, uint64_t limit,
                                                                        RetainedCacheRoom room) {
  // As large as the file system, so that a later daemon may take more; what is not used takes no memory.
  const RetainedCacheGeometry geometry = GeometryFor(limit, std::max(limit, room.folder_bytes()));
  const auto fail = [&](Status status) {
    ::unlink(path_.c_str());
    return status;
  };
  if (::ftruncate(at.fd.get(), static_cast<off_t>(geometry.total_bytes())) != 0) return fail(ErrnoStatus(errno, path_));
  Result<RetainedCacheMemory> memory = RetainedCacheMemory::OfFile(at.fd.get(), path_, geometry.total_bytes());
  if (!memory.ok()) return fail(memory.status());
  if (Status status = memory->Commit(0, geometry.fixed_bytes()); !status.ok()) return fail(std::move(status));
  auto parts = std::make_shared<Parts>(*std::move(memory), geometry, at.lock, std::move(room));
  const MutexLock lock(parts->mu);
  parts->tables.Format(options_.identity, BootId());
  Finish(*parts, at, limit);
  return parts;
}

Result<std::shared_ptr<RetainedCache::Parts>> RetainedCacheOpener::TakeOver(Attached at, uint64_t limit,
                                                                            RetainedCacheRoom room) {
  AUGUR_TRY_ASSIGN(geometry, CheckRetainedCacheFile(at.fd.get(), options_.identity));
  if (IsTooLarge(geometry, limit, room)) {
    ::unlink(path_.c_str());
    return Status(Code::kCorrupt, "it says that it is larger than its file system");
  }
  AUGUR_TRY_ASSIGN(memory, RetainedCacheMemory::OfFile(at.fd.get(), path_, geometry.total_bytes()));
  AUGUR_TRY(memory.Commit(0, geometry.fixed_bytes()));
  auto parts = std::make_shared<Parts>(std::move(memory), geometry, at.lock, std::move(room));
  const MutexLock lock(parts->mu);
  if (at.others == 0) {
    parts->tables.LetItems(geometry.items_max());
    if (Status status = CommitAll(parts->memory, parts->tables, at.held_bytes); !status.ok()) {
      ::unlink(path_.c_str());
      return status.code() == Code::kCorrupt ? status : Status(Code::kCorrupt, status.text());
    }
    parts->tables.header().limit_bytes.Store(limit);
    if (Status status = Shrink(parts->memory, parts->tables, limit); !status.ok()) {
      ::unlink(path_.c_str());
      return status;
    }
  } else {
    limit = std::max(limit, parts->tables.header().limit_bytes.Load());
  }
  parts->LetItems();
  // Also takes the pins of dead daemons off, whose slot may be ours now.
  parts->tables.Rebuild(at.others);
  Finish(*parts, at, limit);
  return parts;
}

void RetainedCacheOpener::Finish(Parts& parts, Attached& at, uint64_t limit) {
  RetainedCacheHeader& header = parts.tables.header();
  header.limit_bytes.Store(limit);
  const bool asked_before = at.others != 0 && header.outlives.Load() != 0;
  header.outlives.Store(options_.outlives || asked_before ? 1 : 0);
  header.store_path_bytes.Store(static_cast<uint32_t>(options_.store_path.size()));
  header.store_path.Store(options_.store_path);
  header.mount_namespace.Store(MountNamespace());
  header.attached_at[at.slot].Store(header.next_sequence.Load());
  parts.on_lost = options_.on_lost;
  parts.place = RetainedCache::Place::kShm;
  parts.path = path_;
  parts.slot = at.slot;
  parts.slot_bit = uint64_t{1} << at.slot;
  ::futimens(at.fd.get(), nullptr);  // SweepDebris: when a daemon was here last
  parts.lock.Unlock();
  parts.fd = std::move(at.fd);
}

}  // namespace augur
