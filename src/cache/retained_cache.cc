// SPDX-License-Identifier: Apache-2.0
#include "cache/retained_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "cache/retained_cache_file.h"
#include "cache/retained_cache_opener.h"
#include "cache/retained_cache_parts.h"

namespace augur {
namespace {

// REQUIRES: both have as many bytes.
void CopyPieces(RetainedCache::Pieces from, std::span<const std::span<std::byte>> to) {
  size_t skip = 0;  // of to[0]
  for (std::span<const std::byte> piece : from) {
    while (!piece.empty()) {
      const std::span<std::byte> place = to[0].subspan(skip);
      const size_t bytes = std::min(piece.size(), place.size());
      std::memcpy(place.data(), piece.data(), bytes);
      piece = piece.subspan(bytes);
      skip += bytes;
      if (bytes == place.size()) {
        to = to.subspan(1);
        skip = 0;
      }
    }
  }
}

}  // namespace

Result<std::unique_ptr<RetainedCache>> RetainedCache::Open(const Options& options, std::vector<std::string>& notes) {
  AUGUR_TRY_ASSIGN(parts, RetainedCacheOpener(options, notes).Open());
  return std::unique_ptr<RetainedCache>(new RetainedCache(std::move(parts)));
}

RetainedCache::~RetainedCache() { parts_->Leave(); }

RetainedCache::Pin::Pin(Pin&& other) noexcept = default;

RetainedCache::Pin& RetainedCache::Pin::operator=(Pin&& other) noexcept {
  std::swap(parts_, other.parts_);
  std::swap(item_, other.item_);
  std::swap(bytes_, other.bytes_);
  std::swap(copy_, other.copy_);
  std::swap(pieces_, other.pieces_);
  return *this;
}

void RetainedCache::Pin::Shorten(uint64_t bytes) {
  AUGUR_CHECK(bytes <= bytes_);
  bytes_ = bytes;
  for (std::span<const std::byte>& piece : pieces_) {
    piece = piece.first(std::min<uint64_t>(bytes, piece.size()));
    bytes -= piece.size();
  }
  std::erase_if(pieces_, [](std::span<const std::byte> piece) { return piece.empty(); });
}

RetainedCache::Pin::~Pin() { Let(); }

void RetainedCache::Pin::Let() {
  if (!parts_) return;
  {
    const MutexLock lock(parts_->mu);
    parts_->Unpin(item_);
  }
  parts_.reset();
}

void RetainedCache::Pin::Copy() {
  copy_ = RecycledMemory::Take<std::byte>(bytes_);
  const std::span<std::byte> to(copy_.get(), bytes_);
  CopyPieces(pieces_, {&to, 1});
  pieces_.assign(1, to);
}

std::optional<RetainedCache::Pin> RetainedCache::Find(const RetainedCacheKey& key, const Check& check) {
  Parts& parts = *parts_;
  const Parts::Teller teller(parts);
  Pin pin;
  uint64_t sequence = 0;
  const bool shared = parts.place == Place::kShm;
  {
    const Parts::Inside inside(parts);
    if (!inside.ok()) return std::nullopt;
    const auto found = parts.FindReady(key);
    if (!found) return std::nullopt;
    const uint32_t item = found->first;
    const RetainedCacheTables::Item& it = found->second;
    if (!parts.tables.Pieces(it, pin.pieces_)) {
      parts.tables.header().torn.Store(1);  // the next holder of the lock rebuilds
      return std::nullopt;
    }
    parts.Pin(item);
    pin.parts_ = parts_;
    pin.item_ = item;
    pin.bytes_ = key.bytes;
    sequence = it.sequence;
    if (!shared && parts.local(item).checked == sequence) return pin;
  }
  if (shared) pin.Copy();
  if (!check(pin.pieces())) {
    pin.parts_.reset();
    parts.Discard(pin.item_, sequence);
    return std::nullopt;
  }
  if (shared) {
    pin.Let();
  } else {
    const MutexLock lock(parts.mu);
    Parts::Local& local = parts.local(pin.item_);
    local.checked = sequence;
    local.inserted = false;
  }
  return pin;
}

bool RetainedCache::Contains(const RetainedCacheKey& key) const {
  const MutexLock lock(parts_->mu);
  if (parts_->memory.lost()) return false;
  // Others may have put in more items since this process last had the lock.
  if (parts_->tables.SaysMoreItems()) parts_->LetItems();
  return parts_->tables.MayHold(key);
}

RetainedCache::Inserted RetainedCache::InsertPieces(const RetainedCacheKey& key, Pieces pieces) {
  uint64_t bytes = 0;
  for (const std::span<const std::byte> piece : pieces) bytes += piece.size();
  if (bytes == 0 || bytes > UINT32_MAX) return Inserted::kNoRoom;
  AUGUR_CHECK(bytes == key.bytes);
  Parts& parts = *parts_;
  const Parts::Teller teller(parts);
  const uint64_t pages = PagesFor(bytes);
  uint32_t item = kNoItem;
  std::vector<std::span<std::byte>> places;
  // Another process may take what was got: a number of times is enough. The tables may prove damaged and be rebuilt,
  // once.
  const uint64_t tries_max = 16 + pages / kSlabDataPages;
  bool spoiled = false;
  for (uint64_t tries = 0; item == kNoItem; ++tries) {
    if (tries == tries_max) return Inserted::kNoRoom;
    {
      const Parts::Inside inside(parts);
      if (!inside.ok()) return Inserted::kNoRoom;
      RetainedCacheTables& tables = parts.tables;
      if (const uint32_t there = tables.Find(key); there != kNoItem) {
        // The pin is looked at first: its writer sets Ready, and then lets go.
        if (parts.PinnedByTheLiving(there) || tables.state(there) == kItemReady) return Inserted::kPresent;
        tables.Free(there);
      }
      if (tables.IsFull(pages) && (!parts.ReapDoomed() || tables.IsFull(pages))) return Inserted::kNoRoom;
      if (tables.LackFor(pages) == RetainedCacheTables::Lack::kNothing) {
        item = tables.Take(key, parts.slot_bit, places);
        if (item != kNoItem) {
          // Pinned there before by this process, so another one has freed it: that is no pin on this block.
          parts.local(item) = {
              .checked = tables.Copy(item).sequence, .pins = parts.local(item).pins + 1, .inserted = true};
        } else if (std::exchange(spoiled, true)) {
          return Inserted::kNoRoom;
        }
        continue;
      }
    }
    if (!parts.Grow(pages)) return Inserted::kNoRoom;
  }
  CopyPieces(pieces, places);
  {
    const MutexLock lock(parts.mu);
    parts.tables.SetReady(item);
    parts.Unpin(item);
  }
  return parts.memory.lost() ? Inserted::kNoRoom : Inserted::kYes;
}

bool RetainedCache::Erase(const RetainedCacheKey& key) {
  const Parts::Inside inside(*parts_);
  if (!inside.ok()) return false;
  const uint32_t item = parts_->tables.Find(key);
  if (item == kNoItem || parts_->PinnedByTheLiving(item)) return false;
  parts_->tables.Free(item);
  return true;
}

uint64_t RetainedCache::EvictUnknown(uint64_t bytes, const std::function<bool(const RetainedCacheKey&)>& known) {
  uint64_t freed = 0;
  for (uint32_t item = 0; item != kNoItem;) item = parts_->EvictSome(item, bytes, known, freed);
  return freed;
}

uint64_t RetainedCache::Clear() { return parts_->Clear(); }

std::vector<RetainedCacheKey> RetainedCache::List() const { return parts_->List(); }

RetainedCache::Place RetainedCache::place() const { return parts_->place; }
const std::string& RetainedCache::path() const { return parts_->path; }
uint64_t RetainedCache::RoomFor(uint64_t bytes) { return PagesFor(bytes) * kPageBytes; }

uint64_t RetainedCache::bytes_max() const {
  const MutexLock lock(parts_->mu);
  return parts_->tables.pages_max() * kPageBytes;
}

uint64_t RetainedCache::used_bytes() const {
  const MutexLock lock(parts_->mu);
  return parts_->tables.pages().used_pages() * kPageBytes;
}

uint64_t RetainedCache::block_count() const {
  const MutexLock lock(parts_->mu);
  return parts_->tables.block_count();
}

uint64_t RetainedCache::held_bytes() const {
  const MutexLock lock(parts_->mu);
  return parts_->tables.held_bytes();
}

uint64_t RetainedCache::taken_bytes() const {
  struct stat info {};
  if (parts_->place == Place::kShm && ::fstat(parts_->fd.get(), &info) == 0) {
    return static_cast<uint64_t>(info.st_blocks) * 512;
  }
  return held_bytes();
}

uint64_t RetainedCache::table_bytes() const {
  const MutexLock lock(parts_->mu);
  return parts_->tables.table_bytes();
}

unsigned RetainedCache::attached() const {
  const MutexLock lock(parts_->mu);
  return static_cast<unsigned>(std::popcount(parts_->lock.LiveSlots()));
}

uint64_t RetainedCache::HeldAlready(const Options& options) {
  if (options.place != Place::kShm) return 0;
  return RetainedCacheFileBytes(RetainedCachePath(options.folder, options.identity, options.group));
}

std::vector<std::string> RetainedCache::SweepDebris(const std::string& folder) { return SweepRetainedCaches(folder); }

}  // namespace augur
