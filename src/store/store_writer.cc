// SPDX-License-Identifier: Apache-2.0
#include "augur/store_writer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "store/entry_item.h"
#include "store/sha256.h"
#include "store/shard_address.h"
#include "store/tree_path.h"
#include "store/tree_sorter.h"
#include "store/writer_entry.h"
#include "store/writer_parts.h"

namespace augur {

Result<std::unique_ptr<StoreWriter>> StoreWriter::Begin(const std::string& path, const WriterOptions& options) {
  AUGUR_TRY_ASSIGN(start, StartWriter(path, options));
  AUGUR_TRY_ASSIGN(entries, EntrySpool::Create(*start.folder));
  AUGUR_TRY_ASSIGN(blocks, BlockSpool::Create(*start.folder));
  std::unique_ptr<StoreWriter> writer(
      new StoreWriter(std::make_unique<Parts>(path, options, std::move(start), std::move(entries), std::move(blocks))));
  Parts& parts = *writer->parts_;
  if (options.mode == WriteMode::kAppend) AUGUR_TRY(parts.Fail(parts.LoadOld()));
  if (!parts.start.progress.empty()) AUGUR_TRY(parts.Fail(parts.TakeOver()));
  return writer;
}

StoreWriter::StoreWriter(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

StoreWriter::~StoreWriter() { (void)End(); }

bool StoreWriter::End() {
  if (parts_ == nullptr) return false;
  const std::unique_ptr<Parts> parts = std::move(parts_);
  if (parts->committed) return false;
  if (parts->stream.active()) (void)parts->stream.Abandon();  // what cannot be taken back, a resume cuts off
  if (parts->failure.ok()) (void)parts->series.Flush();
  return parts->discarded || !parts->resumable() ? parts->RemoveTraces() : true;
}

namespace {

void SetPlace(const RecordPlace& place, SpoolEntry& entry) {
  entry.shard = place.shard;
  entry.offset = place.offset;
  entry.first_block = place.first_block;
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
    return BadInput(path, "a link target has 1 to 4,095 bytes, not " + std::to_string(target.size()));
  }
  if (target.find('\0') != std::string_view::npos) return BadInput(path, "the link target has a NUL byte");
  const SpoolEntry entry = EntryOf(SpoolKind::kSymlink, attributes);
  AUGUR_TRY(CheckInput(path, entry));
  return skip ? Status::Ok() : parts_->Fail(parts_->Add(entry, path, target, false));
}

Status StoreWriter::AddFile(std::string_view path, const Attributes& attributes, const ImageInfo& image,
                            std::span<const std::byte> bytes) {
  return AddFile(path, attributes, image, bytes, HashRecord(bytes));
}

Status StoreWriter::AddFile(std::string_view path, const Attributes& attributes, const ImageInfo& image,
                            std::span<const std::byte> bytes, const RecordHashes& hashes) {
  bool skip = false;
  AUGUR_TRY(parts_->Admit(path, SpoolKind::kFile, &skip));
  SpoolEntry entry = FileOf(attributes, image, bytes.size(), hashes.whole);
  AUGUR_TRY(CheckInput(path, entry));
  if (skip) return Status::Ok();
  bool duplicate = false;
  if (!bytes.empty()) {
    const Result<RecordPlace> place = parts_->records.Put(bytes, hashes);
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

Status StoreWriter::Write(std::span<const std::byte> bytes, std::span<const HashPair> blocks) {
  AUGUR_CHECK(parts_->stream.active());
  AUGUR_TRY(parts_->failure);
  return parts_->stream_skips ? Status::Ok() : parts_->Fail(parts_->stream.Write(bytes, blocks));
}

Status StoreWriter::EndFile(const Attributes& attributes, const ImageInfo& image) {
  AUGUR_CHECK(parts_->stream.active());
  AUGUR_TRY(parts_->failure);
  if (parts_->stream_skips) return parts_->Fail(parts_->stream.Abandon());
  const Result<HashPair> hashes = parts_->stream.Finish();
  if (!hashes.ok()) return parts_->Fail(hashes.status());
  SpoolEntry entry = FileOf(attributes, image, parts_->stream.size(), *hashes);
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
    return BadInput(locator, "the path of a foreign file has 1 to 4,095 bytes and no NUL");
  }
  if (bytes > format::kFileBytesMax) return BadInput(locator, "larger than 2^63 - 1 bytes");
  if (mtime_nsec > format::kNanosecondsMax) return BadInput(locator, "nanoseconds over 999,999,999");
  // Own shards take their number when they are opened, so a foreign one can come between.
  ShardRows& shards = parts_->shards;
  if (shards.size() >= format::kShardCountMax) return BadInput(locator, "too many shards");
  const bool absolute = locator.starts_with('/');
  const bool address = !absolute && IsAddress(locator);
  if (address) {
    if (const char* defect = AddressDefect(locator)) return BadInput(locator, defect);
  }
  shards.push_back({.number = static_cast<uint32_t>(shards.size()),
                    .foreign = true,
                    .absolute = absolute,
                    .address = address,
                    .locator = locator,
                    .path = absolute || address ? locator : parts_->folder + "/" + locator,
                    .bytes = bytes,
                    .token_sec = mtime_sec,
                    .token_nsec = mtime_nsec,
                    .generation = parts_->start.generation});
  parts_->tar = shards.back().number;
  return parts_->tar;
}

Status StoreWriter::AddForeignFile(std::string_view path, const Attributes& attributes, const ImageInfo& image,
                                   uint32_t shard, uint64_t offset, uint64_t size, const RecordHashes& hashes) {
  bool skip = false;
  AUGUR_TRY(parts_->Admit(path, SpoolKind::kFile, &skip));
  if (shard >= parts_->shards.size() || !parts_->shards[shard].foreign) return BadInput(path, "no such foreign shard");
  const uint64_t shard_bytes = parts_->shards[shard].bytes;
  if (offset > shard_bytes || size > shard_bytes - offset) return BadInput(path, "the record leaves its shard");
  if (hashes.blocks.size() != BlockHashCount(size)) return BadInput(path, "wrong number of block hashes");
  SpoolEntry entry = FileOf(attributes, image, size, size == 0 ? EmptyHashes() : hashes.whole);
  entry.foreign = true;
  AUGUR_TRY(CheckInput(path, entry));
  if (skip) return Status::Ok();
  if (size > 0) {
    entry.shard = shard;
    entry.offset = offset;
  }
  if (!hashes.blocks.empty()) {
    const Result<uint64_t> first_block = parts_->blocks.Add(hashes.blocks);
    if (!first_block.ok()) return parts_->Fail(first_block.status());
    entry.first_block = *first_block;
  }
  return parts_->Fail(parts_->Add(entry, path, {}, false));
}

Result<bool> StoreWriter::Resume(std::string_view path, const Attributes& attributes, uint64_t size) {
  bool skip = false;
  AUGUR_TRY(parts_->Admit(path, SpoolKind::kFile, &skip));
  if (parts_->resume == nullptr) return false;
  const auto fits = [&](const format::CatalogueItem& fixed) {
    return fixed.size == size && fixed.mtime_sec == attributes.mtime_sec && fixed.mtime_nsec == attributes.mtime_nsec &&
           (fixed.mode & format::kTypeMask) == format::kTypeFile;
  };
  const CatalogueItem* item = parts_->resume->Find(path);
  while (item != nullptr && !fits(item->fixed)) item = parts_->resume->Find(path);
  if (item == nullptr) return false;
  std::optional<SpoolEntry> entry = parts_->Revive(*item, attributes);
  if (!entry) return false;
  ++parts_->summary.resumed_count;
  if (skip) return true;
  const SpoolEntry* const same =
      size > 0 ? parts_->records.AtPlace(entry->hash, size, entry->shard, entry->offset) : nullptr;
  if (same != nullptr) {
    entry->first_block = same->first_block;
  } else {
    AUGUR_TRY(parts_->ReviveBlocks(*item, *entry));
  }
  uint64_t number = 0;
  AUGUR_TRY(parts_->Fail(parts_->Spool(*entry, path, {}, same != nullptr, &number)));  // it is listed already
  return true;
}

void StoreWriter::Discard() { parts_->discarded = true; }

Result<WriterSummary> StoreWriter::Commit() {
  Parts& parts = *parts_;
  AUGUR_CHECK(!parts.stream.active() && !parts.committed && !parts.discarded);
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

}  // namespace augur
