// SPDX-License-Identifier: Apache-2.0
#include "store/writer_parts.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/units.h"
#include "store/entry_check.h"
#include "store/entry_item.h"
#include "store/generation_upload.h"
#include "store/index_writer.h"
#include "store/old_tree.h"
#include "store/publish.h"
#include "store/sha256.h"
#include "store/store_folder.h"
#include "store/tree_path.h"
#include "store/work_folder.h"
#include "store/writer_entry.h"

namespace augur {

Status StoreWriter::Parts::LoadOld() {
  if (options.upload != nullptr) {
    old = options.upload->old();
  } else {
    AUGUR_TRY_ASSIGN(store, Store::Open(folder));
    old = std::move(store);
  }
  with_listing = old->summary().has_listing;
  AUGUR_TRY(LoadOldShards(*old, shards));
  return LoadOldTree(*old, shards, entries, blocks, records, options.stopped);
}

Status StoreWriter::Parts::TakeOver() {
  AUGUR_TRY_ASSIGN(cursor, ResumeCursor::Open(*start.folder, start.generation, start.progress));
  resume = std::make_unique<ResumeCursor>(std::move(cursor));
  for (const ShardProgress& progress : start.progress) AUGUR_TRY(series.Resume(progress));
  return Status::Ok();
}

bool StoreWriter::Parts::RemoveTraces() {
  const Result<StoreFolder> list = ListStoreFolder(*start.folder);
  if (!list.ok()) return false;
  if (list->has_work && IsWorkFolderUsed(*start.folder)) return true;
  std::vector<StoreFile> traces;
  for (const StoreFile& file : list->files) {
    if (file.kind == StoreFileKind::kTemporary || file.generation == start.generation) traces.push_back(file);
  }
  Status removed = RemoveStoreFiles(*start.folder, traces, nullptr, nullptr);
  if (removed.ok() && list->has_work) removed = RemoveWorkFolder(*start.folder, nullptr, nullptr);
  if (!removed.ok()) spdlog::warn("cannot remove the unfinished files of this run: {}", removed.text());
  if (start.has_store) return false;
  start.lock.Unlink();
  if (start.made_folder) ::rmdir(folder.c_str());
  return false;
}

Status StoreWriter::Parts::Admit(std::string_view path, SpoolKind kind, bool* skip) {
  AUGUR_CHECK(!stream.active());
  AUGUR_TRY(failure);
  AUGUR_TRY(CheckPath(path));
  if (path.empty() && kind != SpoolKind::kDirectory) return BadInput(path, "the root is a folder");
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
  return {Code::kExists, "'" + Printable(path) + "' is in the store already" +
                             (one_folder ? ", once a folder and once not: rename one of the two"
                                         : ": --replace puts the new one in its place")};
}

Status StoreWriter::Parts::List(uint64_t number) {
  const SpoolEntry& entry = entries.At(number);
  item_path = entries.Key(number);
  std::replace(item_path.begin(), item_path.end(), '\0', '/');
  CatalogueItem item{
      .fixed = CatalogueItemOf(entry), .path = item_path, .target = entries.Target(number), .blocks = {}};
  if (entry.kind != SpoolKind::kFile) return series.AddItem(item);
  item.digest = entry.digest;
  item.blocks = blocks.Bytes(entry.first_block, BlockHashCount(entry.size));
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
  SpoolEntry sourced = entry;
  if (sourced.shard == kNoShard) sourced.shard = tar;
  AUGUR_TRY(Spool(sourced, path, target, duplicate, &number));
  return entry.kind == SpoolKind::kHardLink ? Status::Ok() : List(number);
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
  const HashPair hashes{.hash = {fixed.hash.low, fixed.hash.high}, .digest = item.digest};
  SpoolEntry entry = FileOf(attributes, image, fixed.size, fixed.size == 0 ? EmptyHashes() : hashes);
  if (ImageDefect(fixed) != nullptr || fixed.block_count != BlockHashCount(fixed.size)) return std::nullopt;
  if (fixed.size == 0) return entry;
  if (fixed.shard >= shards.size() || shards[fixed.shard].foreign) return std::nullopt;
  // No item may name bytes that were cut off when the last shard was taken over.
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

Status StoreWriter::Parts::ReviveBlocks(const CatalogueItem& item, SpoolEntry& entry) {
  if (item.blocks.empty()) return Status::Ok();
  std::vector<HashPair> hashes(item.fixed.block_count);
  std::copy(item.blocks.begin(), item.blocks.end(), std::as_writable_bytes(std::span(hashes)).begin());
  const Result<uint64_t> first = blocks.Add(hashes);
  if (!first.ok()) return Fail(first.status());
  entry.first_block = *first;
  return Status::Ok();
}

Status StoreWriter::Parts::Publish(const std::vector<uint64_t>& sorted) {
  AUGUR_TRY(series.Finish());
  const std::string name = IndexName(start.generation);
  const Result<WrittenIndex> index =
      IndexWriter(entries, sorted, blocks, shards, start.generation, with_listing).Write(*start.folder, name);
  if (!index.ok()) {
    (void)start.folder->Remove(name);
    return index.status();
  }
  const format::IndexHeader& header = index->header;
  Manifest manifest;
  manifest.generation = start.generation;
  manifest.index_bytes = header.file_bytes;
  manifest.index_id = HexOf(index->root_hash);
  manifest.writer = options.writer;
  if (options.upload != nullptr) {
    AUGUR_TRY(TakeAway(*start.folder, name, header.file_bytes, *options.upload));
    AUGUR_TRY(options.upload->Publish(manifest));
  } else {
    AUGUR_TRY(PublishManifest(*start.folder, manifest, &committed));
  }
  committed = true;
  // The store is there, whatever becomes of this: what stays is cleared by the next writer, and by gc.
  if (!options.recipe.empty()) {
    const Status removed = RemoveWorkFolder(*start.folder, nullptr, nullptr);
    if (!removed.ok()) spdlog::warn("cannot remove the temporary files in .augurpack-work: {}", removed.text());
  }
  summary.file_count = header.file_count;
  summary.directory_count = header.directory_count;
  summary.symlink_count = header.symlink_count;
  summary.image_count = header.image_count;
  summary.tree_bytes = header.tree_bytes;
  return Status::Ok();
}

}  // namespace augur
