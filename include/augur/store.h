// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "augur/digest.h"
#include "augur/entry.h"
#include "augur/status.h"

namespace augur {

// Records over this many bytes carry a hash for each block of this many bytes (FORMAT.md section 5).
inline constexpr uint64_t kBlockBytes = 1 << 20;

// The coarsest alignment that an O_DIRECT read of a shard may need: a multiple of every block size in use. Such a read
// is widened to it, so buffers have this much more room on each side; files that want more are read through the page
// cache.
inline constexpr uint32_t kAlignMax = 4096;

// A file of a store that is open for reading, wherever it is kept. It is closed with the last reference. Safe from any
// thread.
class StoredFile {
 public:
  StoredFile(std::string path, uint64_t bytes) : path_(std::move(path)), bytes_(bytes) {}
  virtual ~StoredFile() = default;
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;

  const std::string& path() const { return path_; }  // for messages
  uint64_t bytes() const { return bytes_; }
  // Reads exactly out.size() bytes from `offset` on; waits. Checks no checksum. kCorrupt: the file ends before. kIo: it
  // cannot be read. Failures name it.
  virtual Status ReadAt(std::span<std::byte> out, uint64_t offset) const = 0;
  // The same for bytes that ReadAt gave and whose checksum is wrong: from where they are kept, not from a copy nearer
  // by.
  virtual Status ReadAgain(std::span<std::byte> out, uint64_t offset) const { return ReadAt(out, offset); }

 private:
  const std::string path_;
  const uint64_t bytes_;
};

class StoreFiles;
class StorePlace;

struct StoreOptions {
  bool direct = false;                   // open shards with O_DIRECT where the file system takes it
  uint32_t open_shards_max = 64;         // descriptors kept open; the least recently used is closed
  uint64_t generation = 0;               // 0: what the manifest names; else that one, if its index is still there
  uint64_t index_bytes_max = 256 << 20;  // of the index in memory, in bytes; names stay even where they exceed it
  // The root hash that the store must have. With it, index and records are checked by SHA-256: a person who can
  // write to them cannot change a byte unseen.
  std::optional<Digest> root_hash = std::nullopt;
};

// Counts that the index header states.
struct StoreSummary {
  uint64_t generation = 0;
  uint64_t entry_count = 0;
  uint64_t file_count = 0;
  uint64_t directory_count = 0;  // with the root
  uint64_t symlink_count = 0;
  uint64_t image_count = 0;
  uint64_t tree_bytes = 0;    // sum of the sizes of all files
  uint64_t record_bytes = 0;  // distinct records
  uint64_t index_bytes = 0;
  uint32_t shard_count = 0;
  std::string writer;  // "augurpack 0.1.0"
  // XXH3-128 of the index header in version 1, the first 16 bytes of the root hash since: it depends on every entry.
  Hash128 index_id;
  uint32_t version = 0;             // of the format
  std::optional<Digest> root_hash;  // from version 2 on: of the index and, by their digests, of all records
  bool has_listing = false;         // folders list as those that were packed, not by name
};

// One row of the shard table.
struct ShardInfo {
  uint32_t number = 0;
  bool foreign = false;
  bool absolute = false;  // the locator is a path from the root
  bool address = false;   // the locator is an address of S3 or HTTPS, wherever the store is
  std::string locator;    // as stored
  std::string path;       // resolved
  uint64_t bytes = 0;
  int64_t token_sec = 0;
  uint32_t token_nsec = 0;
  uint64_t generation = 0;
};

// Store reads one generation of a store (FORMAT.md). It takes each 64 KiB of the index into its own memory and checks
// it at first use. So opening costs the same for ten files and for a hundred million, and checked bytes cannot
// change. It keeps its generation, and holds a shared lock on its index file, until it is destroyed, whatever writers
// do meanwhile. Safe from any thread. Calls may wait for pages of the index; none but Read and OpenShard
// touches a shard. Failures: kCorrupt with file and defect when a rule of FORMAT.md is broken; kIo when the system
// cannot read. Not for changing a store: StoreWriter.
class Store {
 public:
  // Opens the store in folder `path`. kNotFound: no such folder, or no store in it. kUnsupported: a newer format.
  // kInvalid: it has not the root hash that it must have.
  static Result<std::shared_ptr<const Store>> Open(const std::string& path, const StoreOptions& options = {});
  // The same for a store that may be kept elsewhere.
  static Result<std::shared_ptr<const Store>> Open(const StorePlace& place, const StoreOptions& options = {});
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const StoreSummary& summary() const;
  const std::string& path() const;  // of the folder, as given to Open, or of another place

  // The entry with this number; the root is 0. kNotFound above the last.
  Result<Entry> Get(uint64_t number) const;
  // The child of `directory` with this name, by binary search. kNotFound when there is none.
  Result<Entry> Lookup(const Entry& directory, std::string_view name) const;
  // The child at `position` in name order, 0-based. REQUIRES: position < directory.size.
  Result<Entry> Child(const Entry& directory, uint64_t position) const;
  // The position of the child that a listing of `directory` has at `place`, 0-based: the place itself where the store
  // keeps no listing. And the place of the child at a position. REQUIRES: below directory.size.
  Result<uint64_t> ListedPosition(const Entry& directory, uint64_t place) const;
  Result<uint64_t> ListingPlace(const Entry& directory, uint64_t position) const;
  // The entry at a path relative to the root, components parted by '/'; empty components are skipped, symbolic links
  // are not followed. kNotFound when there is none.
  Result<Entry> Find(std::string_view path) const;
  // Path of the entry from the root, without a leading '/'; empty for the root.
  Result<std::string> PathOf(uint64_t number) const;
  // Target of a symbolic link. REQUIRES: link.type == kSymlink.
  Result<std::string_view> LinkTarget(const Entry& link) const;

  // Number of blocks in which the record of `file` is read and checked: one up to kBlockBytes, none without bytes.
  static uint64_t BlockCount(const Entry& file);
  // Bytes of block `block` of `file`. REQUIRES: block < BlockCount(file).
  static uint64_t BlockBytes(const Entry& file, uint64_t block);
  // The hash which block `block` must have: the record's own when it has only one.
  Result<Hash128> BlockHash(const Entry& file, uint64_t block) const;
  // SHA-256 of the bytes of the block. kUnsupported: the store is of version 1.
  Result<Digest> BlockDigest(const Entry& file, uint64_t block) const;
  // The digest of the whole record. kUnsupported: the store is of version 1.
  Result<Digest> RecordDigest(const Entry& file) const;
  // Names block `block` of `file` and its bytes for a cache that other stores or users share: no store can
  // name other bytes alike (StoreIdentity). BlockHash is no such name, as XXH3 can be forged. REQUIRES:
  // as BlockHash.
  Result<Hash128> BlockIdentity(const Entry& file, uint64_t block) const;
  // kCorrupt, as Check says it, unless `bytes` are what BlockIdentity names: by their SHA-256, or, in a store of
  // version 1, by their XXH3-128. Bytes go into a shared cache only after this check, and are taken from it only with
  // it.
  Status CheckIdentity(const Entry& file, uint64_t block, std::span<const std::byte> bytes) const;
  // The shard, which is opened if it is not open. Waits. kCorrupt when the shard is missing or its size is not the one
  // in the index, by name. REQUIRES: number < summary().shard_count.
  Result<std::shared_ptr<const StoredFile>> OpenShard(uint32_t number) const;
  // kCorrupt "shard-...: record N (path): checksum mismatch" unless `bytes` are those of the block: by its XXH3-128,
  // or, when the store was opened with a root hash, by its SHA-256.
  Status Check(const Entry& file, uint64_t block, std::span<const std::byte> bytes) const;
  // Reads block `block` and checks it; `bytes` has exactly BlockBytes. Waits.
  Status Read(const Entry& file, uint64_t block, std::span<std::byte> bytes) const;

  // Row of the shard table. REQUIRES: number < summary().shard_count.
  Result<ShardInfo> Shard(uint32_t number) const;

  // Where shards are read from; lives as long as this.
  const StoreFiles& files() const;

  // Bytes of the index that are in this process's memory now.
  uint64_t HeldIndexBytes() const;
  // Bytes of the whole index that may come to be held: index_bytes_max, or less when the index is smaller.
  uint64_t IndexBytesMax() const;

 private:
  struct Parts;
  explicit Store(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// What a full check looked at.
struct VerifyReport {
  uint64_t index_blocks = 0;
  uint64_t entries = 0;
  uint64_t shards = 0;
  uint64_t records = 0;  // distinct records hashed
  uint64_t record_bytes = 0;
  uint64_t catalogue_items = 0;
  uint64_t defects = 0;
};

// Checks every rule of FORMAT.md and every byte of the store: manifest, index, entries, counts, shard headers,
// catalogues, records. Each defect is handed to `on_defect` and checking goes on where it can. Returns its counts;
// a failure only when the store cannot be opened at all, or has not the root hash that is given. `on_progress` is
// told the record bytes done; it may be empty. `stopped` is asked by any thread at each block, and may be empty: when
// it is true, the check ends as kStopped. Reads with `threads` threads; memory at most threads * 2 MiB plus 24 bytes a
// file.
Result<VerifyReport> VerifyStore(const std::string& path, int threads,
                                 const std::function<void(const Status&)>& on_defect,
                                 const std::function<void(uint64_t)>& on_progress,
                                 const std::optional<Digest>& root_hash = std::nullopt,
                                 const std::function<bool()>& stopped = {});
// The same for a store that may be kept elsewhere.
Result<VerifyReport> VerifyStore(const StorePlace& place, int threads,
                                 const std::function<void(const Status&)>& on_defect,
                                 const std::function<void(uint64_t)>& on_progress,
                                 const std::optional<Digest>& root_hash = std::nullopt,
                                 const std::function<bool()>& stopped = {});

}  // namespace augur
