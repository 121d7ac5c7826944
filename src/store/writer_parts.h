// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "augur/store.h"
#include "augur/store_writer.h"
#include "store/entry_spool.h"
#include "store/record_store.h"
#include "store/record_stream.h"
#include "store/resume_cursor.h"
#include "store/shard_rows.h"
#include "store/shard_series.h"
#include "store/writer_start.h"

namespace augur {

// What a StoreWriter stands on, and the steps that several of its calls share. One thread at a time, as StoreWriter.
// Owns the lock, the spools and the open shards of the run.
struct StoreWriter::Parts {
  Parts(std::string folder_in, const WriterOptions& options_in, WriterStart start_in, EntrySpool entries_in,
        BlockSpool blocks_in)
      : folder(std::move(folder_in)),
        options(options_in),
        start(std::move(start_in)),
        entries(std::move(entries_in)),
        blocks(std::move(blocks_in)),
        series(*start.folder, start.generation, start.base_generation, options.shard_bytes, shards, options.upload),
        records(series, shards, entries, blocks),
        stream(series, records, blocks) {
    summary.generation = start.generation;
    with_listing = options.listing;
  }

  // Takes over the tree and the shards of the store that is appended to.
  Status LoadOld();
  // Opens what a killed writer left, for Revive.
  Status TakeOver();

  // Remembers a failure after which the parts no longer fit together.
  Status Fail(Status status) {
    if (!status.ok() && failure.ok()) failure = status;
    return status;
  }

  // Whether the path may be added; *skip: it may, and the entry that is there already wins.
  Status Admit(std::string_view path, SpoolKind kind, bool* skip);
  // Spools an entry that is whole. `duplicate`: its record was there before.
  Status Spool(const SpoolEntry& entry, std::string_view path, std::string_view target, bool duplicate,
               uint64_t* number);
  // Spools it and lists it in the catalogue.
  Status Add(const SpoolEntry& entry, std::string_view path, std::string_view target, bool duplicate);
  // Writes entry `number` of the spool to the catalogue of the open shard.
  Status List(uint64_t number);
  // The spooled form of what the killed writer had, or nothing when it cannot be used.
  std::optional<SpoolEntry> Revive(const CatalogueItem& item, const Attributes& attributes);
  // Its hashes of blocks, where nothing at its place has them. A failure is one of Fail.
  Status ReviveBlocks(const CatalogueItem& item, SpoolEntry& entry);

  // Writes index and manifest; the store is the new one when it returns kOk. A failure with `committed`: readers may
  // see it.
  Status Publish(const std::vector<uint64_t>& sorted);
  // Whether a later writer can go on with what this one has written, or with what it was to go on with itself.
  bool resumable() const { return series.resumable() || !start.progress.empty(); }
  // Nothing came of it: makes the folder as it was. True: but for what its user has made beside a recipe, which is to
  // be gone on with.
  bool RemoveTraces();

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
  std::string item_path;      // of List, kept for its memory
  bool with_listing = false;  // of the index that is written
  WriterSummary summary;
  Status failure;
  uint32_t tar = kNoShard;  // the foreign shard that was added last: what comes now is of it
  bool committed = false;   // the files of this generation are named by a manifest, so they stay
  bool discarded = false;
};

}  // namespace augur
