// SPDX-License-Identifier: Apache-2.0
#include "store/verify_shards.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "augur/store.h"
#include "base/mutex.h"
#include "base/units.h"
#include "store/catalogue.h"
#include "store/entry_check.h"
#include "store/hash.h"
#include "store/parallel.h"
#include "store/sha256.h"
#include "store/shard_table.h"
#include "store/shard_window.h"
#include "store/tree_path.h"

namespace augur {
namespace {

bool IsZero(const format::Hash& hash) { return hash.low == 0 && hash.high == 0; }

// The defect of an item that is not a regular file with bytes, or nullptr: it has no record.
const char* NoRecordDefect(const format::CatalogueItem& item, bool is_file) {
  static const Hash128 no_bytes = HashBytes128({});
  if (item.shard != kNoShard) return "a shard without a record";
  if (item.block_count != 0) return "block hashes without a record";
  if (is_file) {
    if (item.hash.low != no_bytes.low || item.hash.high != no_bytes.high) return "not the hash of no bytes";
    return ImageDefect(item);
  }
  if (item.size != 0) return "a size without a record";
  if (!IsZero(item.hash)) return "a hash without a record";
  if (item.image_kind != 0) return "an image that is not a file";
  return ImageDefect(item);
}

// Everything about an item but its path and the place of its record.
const char* ItemDefect(const CatalogueItem& item) {
  const format::CatalogueItem& fixed = item.fixed;
  const uint32_t type = fixed.mode & ~format::kPermissionMask;
  const bool is_link = type == format::kTypeSymlink;
  const bool is_file = type == format::kTypeFile;
  if (!is_link && !is_file && type != format::kTypeDirectory) return "an unknown type";
  if (item.path.empty() && (is_link || is_file)) return "a root that is not a directory";
  if (fixed.mtime_nsec > format::kNanosecondsMax) return "nanoseconds over 999,999,999";
  if (is_link && (item.target.empty() || item.target.size() > format::kPathBytesMax)) {
    return "a link target of 0 or over 4,095 bytes";
  }
  if (!is_link && !item.target.empty()) return "a target that is not a link's";
  if (const char* defect = TargetDefect(item.target)) return defect;
  if (!is_file || fixed.size == 0) return NoRecordDefect(fixed, is_file);
  const uint64_t blocks = fixed.size > kBlockBytes ? (fixed.size - 1) / kBlockBytes + 1 : 0;
  if (fixed.shard == kNoShard) return "a record without a shard";
  if (fixed.block_count != blocks) return "another number of block hashes than its size needs";
  return ImageDefect(fixed);
}

// The digest of an item in which ItemDefect finds no defect.
const char* ItemDigestDefect(const CatalogueItem& item) {
  static const Digest no_bytes = Sha256({});
  if ((item.fixed.mode & format::kTypeMask) != format::kTypeFile) {
    return item.digest == Digest{} ? nullptr : "a SHA-256 hash without a record";
  }
  return item.fixed.size > 0 || item.digest == no_bytes ? nullptr : "not the SHA-256 hash of no bytes";
}

// Finds shards of one generation that name different base generations. Safe from any thread.
class BaseGenerations {
 public:
  Status Check(const ShardInfo& info, const StoredFile& file) AUGUR_EXCLUDES(mu_) {
    format::ShardHeader header;
    AUGUR_TRY(file.ReadAt(std::as_writable_bytes(std::span(&header, 1)), 0));
    const MutexLock lock(mu_);
    const auto [seen, added] = seen_.try_emplace(info.generation, Seen{header.base_generation, info.number});
    if (added || seen->second.base == header.base_generation) return Status::Ok();
    return {Code::kCorrupt, file.path() + ": shard header: base generation " + std::to_string(header.base_generation) +
                                ", but " + std::to_string(seen->second.base) + " in shard " +
                                std::to_string(seen->second.shard) + " of the same generation"};
  }

 private:
  struct Seen {
    uint64_t base;
    uint32_t shard;
  };

  Mutex mu_;
  std::map<uint64_t, Seen> seen_ AUGUR_GUARDED_BY(mu_);  // by generation
};

// Checks one own shard. One thread.
class CatalogueVerifier {
 public:
  CatalogueVerifier(const IndexReader& index, const Tree& tree, const ShardInfo& info,
                    std::shared_ptr<const StoredFile> file, RecordList* records, DefectSink* sink)
      : index_(index), tree_(tree), info_(info), file_(std::move(file)), records_(records), sink_(sink) {}

  // Stops at the first defect of the catalogue itself; what the index says otherwise is reported on the way.
  Status Check() {
    AUGUR_TRY(CheckTrailer());
    AUGUR_TRY(CheckSum());
    FrameReader reader([this](std::span<std::byte> out, uint64_t offset) { return file_->ReadAt(out, offset); },
                       file_->path(), trailer_.catalogue_offset, trailer_.catalogue_offset + trailer_.catalogue_bytes,
                       trailer_.version);
    CatalogueFrame frame;
    while (true) {
      AUGUR_TRY_ASSIGN(more, reader.Next(frame));
      if (!more) break;
      for (const CatalogueItem& item : frame.items) AUGUR_TRY(CheckItem(item));
      item_count_ += frame.items.size();
    }
    if (item_count_ != trailer_.item_count) return Corrupt("trailer: item count is not that of the frames");
    CheckRecords();
    return Status::Ok();
  }

  uint64_t item_count() const { return item_count_; }

 private:
  Status Corrupt(const std::string& defect) const { return {Code::kCorrupt, file_->path() + ": " + defect}; }

  Status CheckTrailer() {
    format::ShardHeader header;
    if (file_->bytes() < sizeof(header) + sizeof(trailer_)) return Corrupt("trailer: no room for it: truncated");
    const uint64_t end = file_->bytes() - sizeof(trailer_);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&trailer_, 1));
    AUGUR_TRY(file_->ReadAt(std::as_writable_bytes(std::span(&header, 1)), 0));
    AUGUR_TRY(file_->ReadAt(bytes, end));
    if (trailer_.magic != format::kTrailerMagic) return Corrupt("trailer: wrong magic");
    if (!format::IsKnownVersion(trailer_.version)) {
      return {Code::kUnsupported, file_->path() + ": trailer: version " + std::to_string(trailer_.version) +
                                      ", this program reads versions 1 and 2: use a newer AugurFS"};
    }
    if (trailer_.sum != HashBytes64(bytes.first(offsetof(format::ShardTrailer, sum)))) {
      return Corrupt("trailer: checksum mismatch");
    }
    if (trailer_.version != header.version) return Corrupt("trailer: version is not the header's");
    if (trailer_.number != header.number) return Corrupt("trailer: shard number is not the header's");
    if (trailer_.generation != header.generation) return Corrupt("trailer: generation is not the header's");
    if (trailer_.catalogue_offset < sizeof(header) || trailer_.catalogue_offset > end ||
        trailer_.catalogue_bytes != end - trailer_.catalogue_offset) {
      return Corrupt("trailer: the catalogue does not end where the trailer begins");
    }
    return Status::Ok();
  }

  // Before the frames, so that a flipped bit is named as what it is.
  Status CheckSum() {
    Hasher64 hasher;
    const uint64_t end = trailer_.catalogue_offset + trailer_.catalogue_bytes;
    for (uint64_t at = trailer_.catalogue_offset; at < end;) {
      const uint64_t bytes = std::min(ShardWindow::kBytesMax, end - at);
      AUGUR_TRY_ASSIGN(data, window_.Get(file_, at, bytes, 0));
      hasher.Add(data);
      at += bytes;
    }
    return hasher.Digest() == trailer_.catalogue_sum ? Status::Ok() : Corrupt("catalogue: checksum mismatch");
  }

  Status CheckItem(const CatalogueItem& item) {
    const auto corrupt = [&](const char* defect) {
      return Corrupt("catalogue: item '" + Printable(item.path.substr(0, 200)) + "': " + defect);
    };
    if (const Status status = CheckPath(item.path); !status.ok()) return Corrupt("catalogue: item " + status.text());
    if (const char* defect = ItemDefect(item)) return corrupt(defect);
    const format::CatalogueItem& fixed = item.fixed;
    const bool digested = trailer_.version > 1;
    if (digested) {
      if (const char* defect = ItemDigestDefect(item)) return corrupt(defect);
    }
    if (fixed.shard == kNoShard) return Status::Ok();
    if (fixed.shard >= index_.header().fields().shard_count) return corrupt("its shard is not in the shard table");
    format::Shard row;
    AUGUR_TRY(index_.Load(format::SectionId::kShards, fixed.shard, &row));
    if (const char* defect = ExtentDefect(fixed.offset, fixed.size, row)) return corrupt(defect);
    if (fixed.shard == info_.number && EndsInCatalogue(fixed.offset, fixed.size)) {
      return corrupt("its record does not end before the catalogue");
    }
    const std::optional<size_t> key = records_->Find(fixed.shard, fixed.offset, fixed.size);
    if (!key.has_value()) return Status::Ok();  // a file that a later generation replaced
    if (fixed.shard == info_.number) records_->MarkListed(*key);
    AUGUR_TRY_ASSIGN(entry, tree_.Get(records_->keys()[*key].number));
    if (entry.hash != Hash128{.low = fixed.hash.low, .high = fixed.hash.high}) {
      return corrupt("its hash is not the one in the index");
    }
    if (digested && tree_.has_digests()) {
      AUGUR_TRY_ASSIGN(digest, tree_.RecordDigest(entry));
      if (digest != item.digest) return corrupt("its SHA-256 hash is not the one in the index");
    }
    for (uint64_t block = 0; block < fixed.block_count; ++block) {
      format::Block hashes{};
      const size_t bytes = BlockItemBytes(trailer_.version);
      std::memcpy(&hashes, item.blocks.data() + block * bytes, bytes);
      AUGUR_TRY_ASSIGN(expected, tree_.BlockHash(entry, block));
      if (expected != Hash128{.low = hashes.hash.low, .high = hashes.hash.high}) {
        return corrupt("a block hash is not the one in the index");
      }
      if (!digested || !tree_.has_digests()) continue;
      AUGUR_TRY_ASSIGN(digest, tree_.BlockDigest(entry, block));
      if (digest != hashes.digest) return corrupt("the SHA-256 hash of a block is not the one in the index");
    }
    return Status::Ok();
  }

  // REQUIRES: the record is within the shard.
  bool EndsInCatalogue(uint64_t offset, uint64_t size) const { return offset + size > trailer_.catalogue_offset; }

  // That the records of the index end before the catalogue, and that it lists them.
  void CheckRecords() {
    const auto [begin, end] = records_->OfShard(info_.number);
    for (size_t i = begin; i < end; ++i) {
      const ListedRecord& key = records_->keys()[i];
      if (!key.first) continue;
      const Result<Entry> entry = tree_.Get(key.number);
      if (entry.ok() && EndsInCatalogue(entry->offset, entry->size)) {
        sink_->Passes(Corrupt("record " + std::to_string(key.number) + " (" + tree_.PathForMessage(key.number) +
                              "): does not end before the catalogue"));
      }
      if (key.listed) continue;
      sink_->Passes(Corrupt("record " + std::to_string(key.number) + " (" + tree_.PathForMessage(key.number) +
                            "): not in the catalogue of its shard"));
    }
  }

  const IndexReader& index_;
  const Tree& tree_;
  const ShardInfo& info_;
  const std::shared_ptr<const StoredFile> file_;
  RecordList* const records_;
  DefectSink* const sink_;
  ShardWindow window_;
  format::ShardTrailer trailer_{};
  uint64_t item_count_ = 0;
};

}  // namespace

ShardCounts VerifyShards(const IndexReader& index, const std::string& folder, const StoreFiles& files, const Tree& tree,
                         int threads, RecordList* records, DefectSink* sink) {
  std::atomic<uint64_t> item_count = 0;
  BaseGenerations bases;
  const auto check = [&](uint32_t number) -> Status {
    if (sink->stopped()) return Status::Ok();
    AUGUR_TRY_ASSIGN(info, LoadShard(index, folder, number));
    const auto [begin, end] = records->OfShard(number);
    if (begin == end && files.LookAtShard(info).code() == Code::kNotFound) return Status::Ok();
    AUGUR_TRY_ASSIGN(file, files.OpenShard(info));
    if (info.foreign) return Status::Ok();
    sink->Passes(bases.Check(info, *file));
    CatalogueVerifier verifier(index, tree, info, file, records, sink);
    Status status = verifier.Check();
    item_count += verifier.item_count();
    return status;
  };
  const uint32_t shard_count = index.header().fields().shard_count;
  ForEachPiece(threads, shard_count, 1,
               [&](uint64_t number, uint64_t) { sink->Passes(check(static_cast<uint32_t>(number))); });
  return {.shard_count = shard_count, .item_count = item_count};
}

}  // namespace augur
