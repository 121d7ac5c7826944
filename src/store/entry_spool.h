// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "augur/digest.h"
#include "augur/entry.h"
#include "augur/status.h"
#include "augur/store_writer.h"
#include "base/units.h"
#include "store/format.h"
#include "store/mapped_file.h"

namespace augur {

// What a spooled entry will be. kHardLink is resolved at Commit; its target is the path key of the file that it equals.
enum class SpoolKind : uint8_t { kDirectory, kFile, kSymlink, kHardLink };

// The fixed part of a spooled entry; its path key and its target follow it.
struct SpoolEntry {
  uint32_t path_bytes = 0;
  uint32_t target_bytes = 0;
  SpoolKind kind = SpoolKind::kFile;
  bool old = false;      // of the generation that is appended to
  bool derived = false;  // made by Commit (a missing parent, a resolved hard link), so not by another Commit again
  bool foreign = false;  // the record lies in a foreign shard
  uint32_t mode = 0;     // permission bits
  int64_t mtime_sec = 0;
  uint32_t mtime_nsec = 0;
  uint32_t shard = kNoShard;  // of the record; of what has none, the tar that it came from, for messages
  uint64_t size = 0;          // of a file
  uint64_t offset = 0;        // of the record
  uint64_t first_block = 0;   // in the BlockSpool, of a record over kBlockBytes
  format::Hash hash{};        // of a file
  Digest digest{};            // of a file
  ImageInfo image{};
  uint64_t place = Attributes::kNoPlace;
};
static_assert(sizeof(SpoolEntry) == 128 && sizeof(SpoolEntry) % 8 == 0);

// EntrySpool keeps the entries of the tree that is being written, in the order in which they came, in an unlinked file
// in the store's folder. What a writer knows of ten million files does not belong into memory. One thread at a time.
// Not for records.
class EntrySpool {
 public:
  static Result<EntrySpool> Create(const WriteFolder& folder);

  // Appends an entry and returns its number, which grows with each. `path` may have '/' or NUL between its components.
  // Invalidates what At, Key and Target returned.
  Result<uint64_t> Add(const SpoolEntry& entry, std::string_view path, std::string_view target);

  SpoolEntry& At(uint64_t number) {
    LimitResidency(number);
    return *reinterpret_cast<SpoolEntry*>(file_.data() + number);
  }
  const SpoolEntry& At(uint64_t number) const {
    LimitResidency(number);
    return *reinterpret_cast<const SpoolEntry*>(file_.data() + number);
  }
  std::string_view Key(uint64_t number) const {
    return {reinterpret_cast<const char*>(file_.data() + number + sizeof(SpoolEntry)), At(number).path_bytes};
  }
  std::string_view Target(uint64_t number) const {
    const std::string_view key = Key(number);
    return {key.data() + key.size(), At(number).target_bytes};
  }

  // The entries in order: for (n = 0; n < end(); n = Next(n)).
  uint64_t Next(uint64_t number) const;
  uint64_t end() const { return end_; }
  uint64_t count() const { return count_; }

 private:
  // A walk through the spool, or through two parts of it at once as in a merge, lets go of the pages that it passed.
  // So the process is small beside its spool. Looks at random do not count: what they let go of they would map again.
  static constexpr uint64_t kStepBytesMax = 8 * kKiB;  // an entry is at most half of that
  static constexpr uint64_t kWalkedBytesMax = 512 * kKiB;

  explicit EntrySpool(MappedFile file) : file_(std::move(file)) {}
  void LimitResidency(uint64_t number) const {
    for (uint64_t& walk : walks_) {
      const uint64_t step = number > walk ? number - walk : walk - number;
      if (step > kStepBytesMax) continue;
      walk = number;
      walked_bytes_ += step;
      if (walked_bytes_ < kWalkedBytesMax) return;
      walked_bytes_ = 0;
      file_.Release();
      return;
    }
    walks_[oldest_walk_] = number;
    oldest_walk_ ^= 1;
  }

  MappedFile file_;
  uint64_t end_ = 0;
  uint64_t count_ = 0;

  // Where the latest walks are.
  mutable std::array<uint64_t, 2> walks_{};
  mutable size_t oldest_walk_ = 0;
  mutable uint64_t walked_bytes_ = 0;
};

// BlockSpool keeps the block hashes of large records in the same way. It becomes the BLOCKS section.
class BlockSpool {
 public:
  static Result<BlockSpool> Create(const WriteFolder& folder);

  // Appends hashes and returns the number of the first. Invalidates what Bytes returned.
  Result<uint64_t> Add(std::span<const HashPair> blocks);
  // Forgets the hashes from this number on.
  void Truncate(uint64_t count) { count_ = count; }
  uint64_t count() const { return count_; }
  std::span<const std::byte> Bytes(uint64_t first, uint64_t count) const {
    return {file_.data() + first * sizeof(format::Block), count * sizeof(format::Block)};
  }

 private:
  explicit BlockSpool(MappedFile file) : file_(std::move(file)) {}

  MappedFile file_;
  uint64_t count_ = 0;
};

inline constexpr const char* kEntrySpoolName = "entries.tmp";
inline constexpr const char* kBlockSpoolName = "blocks.tmp";

}  // namespace augur
