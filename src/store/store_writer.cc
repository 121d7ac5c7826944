// SPDX-License-Identifier: Apache-2.0
#include "augur/store_writer.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "augur/store.h"
#include "base/check.h"
#include "base/log.h"
#include "base/units.h"
#include "store/entry_check.h"
#include "store/entry_item.h"
#include "store/entry_spool.h"
#include "store/hash.h"
#include "store/index_writer.h"
#include "store/old_tree.h"
#include "store/publish.h"
#include "store/record_store.h"
#include "store/record_stream.h"
#include "store/resume_cursor.h"
#include "store/shard_rows.h"
#include "store/shard_series.h"
#include "store/store_folder.h"
#include "store/tree_path.h"
#include "store/tree_sorter.h"
#include "store/writer_start.h"

namespace augur {
namespace {

// The hash of no bytes, which an empty file has.
format::Hash EmptyHash() {
  const Hash128 hash = HashBytes128({});
  return {hash.low, hash.high};
}

SpoolEntry EntryOf(SpoolKind kind, const Attributes& attributes) {
  return {.kind = kind,
          .mode = attributes.mode & format::kPermissionMask,
          .mtime_sec = attributes.mtime_sec,
          .mtime_nsec = attributes.mtime_nsec};
}

SpoolEntry FileOf(const Attributes& attributes, const ImageInfo& image, uint64_t size, const Hash128& hash) {
  SpoolEntry entry = EntryOf(SpoolKind::kFile, attributes);
  entry.size = size;
  entry.hash = {hash.low, hash.high};
  entry.image = image;
  return entry;
}

Status Bad(std::string_view path, std::string_view defect) {
  return {Code::kInvalid, "'" + Printable(path) + "': " + std::string(defect)};
}

}  // namespace

struct StoreWriter::Parts {
  Parts(std::string folder_in, const WriterOptions& options_in, WriterStart start_in, EntrySpool entries_in,
        BlockSpool blocks_in)
      : folder(std::move(folder_in)),
        options(options_in),
        start(std::move(start_in)),
        entries(std::move(entries_in)),
        blocks(std::move(blocks_in)),
        series(folder, start.generation, start.base_generation, options.shard_bytes, shards),
        records(series, shards, entries, blocks),
        stream(series, records, blocks) {
    summary.generation = start.generation;
  }

  Status LoadOld();
  Status TakeOver();

  // Remembers a failure after which the parts no longer fit together.
  Status Fail(Status status) {
    if (!status.ok() && failure.ok()) failure = status;
    return status;
  }

  // Whether the path may be added; *skip: it may, and what is there already wins.
  Status Admit(std::string_view path, SpoolKind kind, bool* skip);
  // Spools an entry that is whole. `duplicate`: its record was there before.
  Status Spool(const SpoolEntry& entry, std::string_view path, std::string_view target, bool duplicate,
               uint64_t* number);
  // Spools it and lists it in the catalogue.
  Status Add(const SpoolEntry& entry, std::string_view path, std::string_view target, bool duplicate);
  Status List(uint64_t number);
  // The spooled form of what the killed writer had, or nothing when it cannot be used.
  std::optional<SpoolEntry> Revive(const CatalogueItem& item, const Attributes& attributes);

  Status Publish(const std::vector<uint64_t>& sorted);
  void RemoveTraces();

  // Constant after construction.
  const std::string folder;
  const WriterOptions options;

  WriterStart start;
  std::shared_ptr<const Store> old;  // the store that is appended to
  ShardRows shards;
  EntrySpool entries;
  BlockSpool blocks;
  ShardSeries series;
  RecordStore records;
  RecordStream stream;
  std::unique_ptr<ResumeCursor> resume;  // nullptr: nothing to resume
  std::string stream_path;
  bool stream_skips = false;
  std::string item_path;  // of List, kept for its memory
  WriterSummary summary;
  Status failure;
  bool committed = false;
};

Status StoreWriter::Parts::LoadOld() {
  AUGUR_TRY_ASSIGN(store, Store::Open(folder));
  old = std::move(store);
  AUGUR_TRY(LoadOldShards(*old, shards));
  return LoadOldTree(*old, shards, entries, blocks, records);
}

Status StoreWriter::Parts::TakeOver() {
  AUGUR_TRY_ASSIGN(cursor, ResumeCursor::Open(folder, start.generation, start.progress));
  resume = std::make_unique<ResumeCursor>(std::move(cursor));
  for (const ShardProgress& progress : start.progress) AUGUR_TRY(series.Resume(progress));
  return Status::Ok();
}

Result<std::unique_ptr<StoreWriter>> StoreWriter::Begin(const std::string& path, const WriterOptions& options) {
  AUGUR_TRY_ASSIGN(start, StartWriter(path, options));
  AUGUR_TRY_ASSIGN(entries, EntrySpool::Create(path));
  AUGUR_TRY_ASSIGN(blocks, BlockSpool::Create(path));
  std::unique_ptr<StoreWriter> writer(
      new StoreWriter(std::make_unique<Parts>(path, options, std::move(start), std::move(entries), std::move(blocks))));
  Parts& parts = *writer->parts_;
  if (options.mode == WriteMode::kAppend) AUGUR_TRY(parts.Fail(parts.LoadOld()));
  if (!parts.start.progress.empty()) AUGUR_TRY(parts.Fail(parts.TakeOver()));
  return writer;
}

StoreWriter::StoreWriter(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

StoreWriter::~StoreWriter() {
  if (parts_ == nullptr || parts_->committed) return;
  if (parts_->stream.active()) (void)parts_->stream.Abandon();  // what cannot be taken back, a resume cuts off
  if (parts_->failure.ok()) (void)parts_->series.Flush();
  if (!parts_->series.resumable()) parts_->RemoveTraces();
}

// Nothing came of it: the folder is to be as it was.
void StoreWriter::Parts::RemoveTraces() {
  const Result<StoreFolder> list = ListStoreFolder(folder);
  if (!list.ok()) return;
  std::vector<StoreFile> traces;
  for (const StoreFile& file : list->files) {
    if (file.kind == StoreFileKind::kTemporary || file.generation == start.generation) traces.push_back(file);
  }
  const Status removed = RemoveStoreFiles(folder, traces, nullptr, nullptr);
  if (!removed.ok()) spdlog::warn("cannot remove what was begun: {}", removed.text());
  if (start.has_store) return;
  start.lock.Unlink();
  if (start.made_folder) ::rmdir(folder.c_str());
}

Status StoreWriter::Parts::Admit(std::string_view path, SpoolKind kind, bool* skip) {
  AUGUR_CHECK(!stream.active());
  AUGUR_TRY(failure);
  AUGUR_TRY(CheckPath(path));
  if (path.empty() && kind != SpoolKind::kDirectory) return Bad(path, "the root is a folder");
  *skip = false;
  if (old == nullptr || options.on_duplicate == OnDuplicate::kLast) return Status::Ok();
  const Result<Entry> there = old->Find(path);
  if (!there.ok()) return there.status().code() == Code::kNotFound ? Status::Ok() : Fail(there.status());
  const bool both_folders = kind == SpoolKind::kDirectory && there->type == EntryType::kDirectory;
  const bool one_folder = kind == SpoolKind::kDirectory || there->type == EntryType::kDirectory;
  if (both_folders) return Status::Ok();
  if (options.on_duplicate == OnDuplicate::kFirst && !one_folder) {
    *skip = true;
    return Status::Ok();
  }
  return {Code::kExists,
          "'" + Printable(path) + "' is in the store already" + (one_folder ? ", once a folder and once not" : "")};
}

Status StoreWriter::Parts::List(uint64_t number) {
  const SpoolEntry& entry = entries.At(number);
  item_path = entries.Key(number);
  std::replace(item_path.begin(), item_path.end(), '\0', '/');
  CatalogueItem item{CatalogueItemOf(entry), item_path, entries.Target(number), {}};
  if (entry.kind == SpoolKind::kFile) item.blocks = blocks.Bytes(entry.first_block, BlockHashCount(entry.size));
  return series.AddItem(item);
}

Status StoreWriter::Parts::Spool(const SpoolEntry& entry, std::string_view path, std::string_view target,
                                 bool duplicate, uint64_t* number) {
  AUGUR_TRY_ASSIGN(added, entries.Add(entry, path, target));
  *number = added;
  if (entry.kind != SpoolKind::kFile || entry.size == 0 || entry.foreign) return Status::Ok();
  if (duplicate) {
    ++summary.duplicate_count;
    return Status::Ok();
  }
  summary.stored_bytes += entry.size;
  return records.Remember(added).status();
}

Status StoreWriter::Parts::Add(const SpoolEntry& entry, std::string_view path, std::string_view target,
                               bool duplicate) {
  uint64_t number = 0;
  AUGUR_TRY(Spool(entry, path, target, duplicate, &number));
  return entry.kind == SpoolKind::kHardLink ? Status::Ok() : List(number);
}

namespace {

void SetPlace(const RecordPlace& place, SpoolEntry& entry) {
  entry.shard = place.shard;
  entry.offset = place.offset;
  entry.first_block = place.first_block;
}

// What a caller may say of a file.
Status CheckInput(std::string_view path, const SpoolEntry& entry) {
  if (entry.mtime_nsec > format::kNanosecondsMax) return Bad(path, "nanoseconds over 999,999,999");
  if (entry.kind != SpoolKind::kFile) return Status::Ok();
  if (const char* defect = ImageDefect(IndexEntryOf(entry))) return Bad(path, defect);
  return Status::Ok();
}

}  // namespace

Status StoreWriter::AddDirectory(std::string_view path, const Attributes& attributes) {
  bool skip = false;
  AUGUR_TRY(parts_->Admit(path, SpoolKind::kDirectory, &skip));
  const SpoolEntry entry = EntryOf(SpoolKind::kDirectory, attributes);
  AUGUR_TRY(CheckInput(path, entry));
  return parts_->Fail(parts_->Add(entry, path, {}, false));
}

Status StoreWriter::AddSymlink(std::string_view path, const Attributes& attributes, std::string_view target) {
  bool skip = false;
  AUGUR_TRY(parts_->Admit(path, SpoolKind::kSymlink, &skip));
  if (target.empty() || target.size() > format::kPathBytesMax) {
    return Bad(path, "a link target has 1 to 4,095 bytes, not " + std::to_string(target.size()));
  }
  if (target.find('\0') != std::string_view::npos) return Bad(path, "the link target has a NUL byte");
  const SpoolEntry entry = EntryOf(SpoolKind::kSymlink, attributes);
  AUGUR_TRY(CheckInput(path, entry));
  return skip ? Status::Ok() : parts_->Fail(parts_->Add(entry, path, target, false));
}

Status StoreWriter::AddFile(std::string_view path, const Attributes& attributes, const ImageInfo& image,
                            std::span<const std::byte> bytes) {
  return AddFile(path, attributes, image, bytes, HashBytes128(bytes));
}

Status StoreWriter::AddFile(std::string_view path, const Attributes& attributes, const ImageInfo& image,
                            std::span<const std::byte> bytes, const Hash128& hash) {
  bool skip = false;
  AUGUR_TRY(parts_->Admit(path, SpoolKind::kFile, &skip));
  SpoolEntry entry = FileOf(attributes, image, bytes.size(), hash);
  AUGUR_TRY(CheckInput(path, entry));
  if (skip) return Status::Ok();
  bool duplicate = false;
  if (!bytes.empty()) {
    const Result<RecordPlace> place = parts_->records.Put(bytes, hash);
    if (!place.ok()) return parts_->Fail(place.status());
    SetPlace(*place, entry);
    duplicate = place->duplicate;
  }
  return parts_->Fail(parts_->Add(entry, path, {}, duplicate));
}

Status StoreWriter::BeginFile(std::string_view path) {
  AUGUR_TRY(parts_->Admit(path, SpoolKind::kFile, &parts_->stream_skips));
  parts_->stream_path = path;
  parts_->stream.Begin();
  return Status::Ok();
}

Status StoreWriter::Write(std::span<const std::byte> bytes) {
  AUGUR_CHECK(parts_->stream.active());
  AUGUR_TRY(parts_->failure);
  return parts_->stream_skips ? Status::Ok() : parts_->Fail(parts_->stream.Write(bytes));
}

Status StoreWriter::EndFile(const Attributes& attributes, const ImageInfo& image) {
  AUGUR_CHECK(parts_->stream.active());
  AUGUR_TRY(parts_->failure);
  if (parts_->stream_skips) return parts_->Fail(parts_->stream.Abandon());
  SpoolEntry entry = FileOf(attributes, image, parts_->stream.size(), parts_->stream.Digest());
  if (Status bad = CheckInput(parts_->stream_path, entry); !bad.ok()) {
    AUGUR_TRY(parts_->Fail(parts_->stream.Abandon()));
    return bad;
  }
  const Result<RecordPlace> place = parts_->stream.End();
  if (!place.ok()) return parts_->Fail(place.status());
  if (entry.size > 0) SetPlace(*place, entry);
  return parts_->Fail(parts_->Add(entry, parts_->stream_path, {}, place->duplicate));
}

Status StoreWriter::AbandonFile() {
  AUGUR_CHECK(parts_->stream.active());
  return parts_->Fail(parts_->stream.Abandon());
}

Status StoreWriter::AddHardLink(std::string_view path, std::string_view target) {
  bool skip = false;
  AUGUR_TRY(parts_->Admit(path, SpoolKind::kHardLink, &skip));
  AUGUR_TRY(CheckPath(target));
  if (skip) return Status::Ok();
  std::string key(target);
  std::replace(key.begin(), key.end(), '/', '\0');
  return parts_->Fail(parts_->Add(EntryOf(SpoolKind::kHardLink, {}), path, key, false));
}

Result<uint32_t> StoreWriter::AddForeignShard(const std::string& locator, uint64_t bytes, int64_t mtime_sec,
                                              uint32_t mtime_nsec) {
  AUGUR_CHECK(!parts_->stream.active());
  AUGUR_TRY(parts_->failure);
  if (locator.empty() || locator.size() > format::kPathBytesMax || locator.find('\0') != std::string::npos) {
    return Bad(locator, "the path of a foreign file has 1 to 4,095 bytes and no NUL");
  }
  if (bytes > format::kFileBytesMax) return Bad(locator, "larger than 2^63 - 1 bytes");
  if (mtime_nsec > format::kNanosecondsMax) return Bad(locator, "nanoseconds over 999,999,999");
  // Own shards take their number when they are opened, so a foreign one can come between.
  ShardRows& shards = parts_->shards;
  if (shards.size() >= format::kShardCountMax) return Bad(locator, "too many shards");
  const bool absolute = locator.starts_with('/');
  shards.push_back({.number = static_cast<uint32_t>(shards.size()),
                    .foreign = true,
                    .absolute = absolute,
                    .locator = locator,
                    .path = absolute ? locator : parts_->folder + "/" + locator,
                    .bytes = bytes,
                    .token_sec = mtime_sec,
                    .token_nsec = mtime_nsec,
                    .generation = parts_->start.generation});
  return shards.back().number;
}

Status StoreWriter::AddForeignFile(std::string_view path, const Attributes& attributes, const ImageInfo& image,
                                   uint32_t shard, uint64_t offset, uint64_t size, const Hash128& hash,
                                   std::span<const Hash128> blocks) {
  bool skip = false;
  AUGUR_TRY(parts_->Admit(path, SpoolKind::kFile, &skip));
  if (shard >= parts_->shards.size() || !parts_->shards[shard].foreign) return Bad(path, "no such foreign shard");
  const uint64_t shard_bytes = parts_->shards[shard].bytes;
  if (offset > shard_bytes || size > shard_bytes - offset) return Bad(path, "the record leaves its shard");
  if (blocks.size() != BlockHashCount(size)) return Bad(path, "wrong number of block hashes");
  SpoolEntry entry = FileOf(attributes, image, size, hash);
  entry.foreign = true;
  AUGUR_TRY(CheckInput(path, entry));
  if (skip) return Status::Ok();
  if (size == 0) {
    entry.hash = EmptyHash();
  } else {
    entry.shard = shard;
    entry.offset = offset;
  }
  if (!blocks.empty()) {
    const Result<uint64_t> first_block = parts_->blocks.Add(blocks);
    if (!first_block.ok()) return parts_->Fail(first_block.status());
    entry.first_block = *first_block;
  }
  return parts_->Fail(parts_->Add(entry, path, {}, false));
}

std::optional<SpoolEntry> StoreWriter::Parts::Revive(const CatalogueItem& item, const Attributes& attributes) {
  const format::CatalogueItem& fixed = item.fixed;
  const ImageInfo image{.width = fixed.width,
                        .height = fixed.height,
                        .exif_bytes = fixed.exif_bytes,
                        .kind = static_cast<ImageKind>(fixed.image_kind),
                        .channels = fixed.channels,
                        .orientation = fixed.orientation,
                        .bit_depth = fixed.bit_depth};
  SpoolEntry entry = FileOf(attributes, image, fixed.size, {fixed.hash.low, fixed.hash.high});
  if (ImageDefect(fixed) != nullptr || fixed.block_count != BlockHashCount(fixed.size)) return std::nullopt;
  if (fixed.size == 0) {
    entry.hash = EmptyHash();
    return entry;
  }
  if (fixed.shard >= shards.size() || shards[fixed.shard].foreign) return std::nullopt;
  // What was cut off when the last shard was taken over may be named by nobody.
  const bool is_current = series.current() != nullptr && series.current()->number() == fixed.shard;
  const uint64_t shard_bytes = is_current ? series.current()->end() : shards[fixed.shard].bytes;
  if (fixed.offset < sizeof(format::ShardHeader) || fixed.size > shard_bytes ||
      fixed.offset > shard_bytes - fixed.size) {
    return std::nullopt;
  }
  entry.shard = fixed.shard;
  entry.offset = fixed.offset;
  return entry;
}

Result<bool> StoreWriter::Resume(std::string_view path, const Attributes& attributes, uint64_t size) {
  bool skip = false;
  AUGUR_TRY(parts_->Admit(path, SpoolKind::kFile, &skip));
  if (parts_->resume == nullptr) return false;
  const CatalogueItem* item = parts_->resume->Find(path);
  if (item == nullptr || item->fixed.size != size || item->fixed.mtime_sec != attributes.mtime_sec ||
      item->fixed.mtime_nsec != attributes.mtime_nsec || (item->fixed.mode & format::kTypeMask) != format::kTypeFile) {
    return false;
  }
  std::optional<SpoolEntry> entry = parts_->Revive(*item, attributes);
  if (!entry) return false;
  ++parts_->summary.resumed_count;
  if (skip) return true;
  Status status;
  bool duplicate = false;
  if (size > 0) {
    const SpoolEntry* same = parts_->records.AtPlace(entry->hash, size, entry->shard, entry->offset);
    duplicate = same != nullptr;
    if (same != nullptr) {
      entry->first_block = same->first_block;
    } else if (!item->blocks.empty()) {
      std::vector<Hash128> blocks(item->fixed.block_count);
      std::copy(item->blocks.begin(), item->blocks.end(), std::as_writable_bytes(std::span(blocks)).begin());
      const Result<uint64_t> first_block = parts_->blocks.Add(blocks);
      if (!first_block.ok()) return parts_->Fail(first_block.status());
      entry->first_block = *first_block;
    }
  }
  uint64_t number = 0;
  AUGUR_TRY(parts_->Fail(parts_->Spool(*entry, path, {}, duplicate, &number)));  // it is listed already
  return true;
}

Result<WriterSummary> StoreWriter::Commit() {
  Parts& parts = *parts_;
  AUGUR_CHECK(!parts.stream.active() && !parts.committed);
  AUGUR_TRY(parts.failure);
  // Their memory is needed for sorting now.
  parts.records.Forget();
  parts.resume.reset();
  parts.old.reset();
  TreeSorter sorter(parts.entries, parts.shards, parts.options.on_duplicate,
                    [&parts](uint64_t number) { return parts.List(number); });
  const Result<std::vector<uint64_t>> sorted = sorter.Sort();
  if (!sorted.ok()) {
    const Code code = sorted.status().code();
    return code == Code::kExists || code == Code::kInvalid ? sorted.status() : parts.Fail(sorted.status());
  }
  AUGUR_TRY(parts.Fail(parts.Publish(*sorted)));
  return parts.summary;
}

Status StoreWriter::Parts::Publish(const std::vector<uint64_t>& sorted) {
  AUGUR_TRY(series.Finish());
  const std::string path = folder + "/" + IndexName(start.generation);
  const Result<format::IndexHeader> header = IndexWriter(entries, sorted, blocks, shards, start.generation).Write(path);
  if (!header.ok()) {
    ::unlink(path.c_str());
    return header.status();
  }
  Manifest manifest;
  manifest.generation = start.generation;
  manifest.index_bytes = header->file_bytes;
  manifest.index_id = HashBytes128(std::as_bytes(std::span(&*header, 1)));
  manifest.writer = options.writer;
  AUGUR_TRY(PublishManifest(folder, manifest));
  committed = true;
  summary.file_count = header->file_count;
  summary.directory_count = header->directory_count;
  summary.symlink_count = header->symlink_count;
  summary.image_count = header->image_count;
  summary.tree_bytes = header->tree_bytes;
  return Status::Ok();
}

}  // namespace augur
