// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "augur/store.h"
#include "store/defect_sink.h"
#include "store/local_files.h"
#include "store/open_index.h"
#include "store/parallel.h"
#include "store/record_list.h"
#include "store/tree.h"
#include "store/verify_records.h"
#include "store/verify_shards.h"
#include "store/verify_tree.h"

namespace augur {
namespace {

// Blocks of the index that a thread takes at once: 4 MiB.
constexpr uint64_t kPieceBlocks = 64;

void VerifyBlocks(const IndexReader& index, int threads, DefectSink* sink) {
  ForEachPiece(threads, index.BlockCount(), kPieceBlocks, [&](uint64_t begin, uint64_t end) {
    for (uint64_t block = begin; block < end && !sink->stopped(); ++block) sink->Passes(index.CheckBlock(block));
  });
}

}  // namespace

Result<VerifyReport> VerifyStore(const std::string& path, int threads,
                                 const std::function<void(const Status&)>& on_defect,
                                 const std::function<void(uint64_t)>& on_progress,
                                 const std::optional<Digest>& root_hash, const std::function<bool()>& stopped) {
  // O_DIRECT, so that the disk is checked and not the page cache, and no other pages are evicted from it.
  const LocalPlace place(path, {.direct = true, .open_shards_max = static_cast<uint32_t>(std::max(threads, 1))});
  return VerifyStore(place, threads, on_defect, on_progress, root_hash, stopped);
}

Result<VerifyReport> VerifyStore(const StorePlace& place, int threads,
                                 const std::function<void(const Status&)>& on_defect,
                                 const std::function<void(uint64_t)>& on_progress,
                                 const std::optional<Digest>& root_hash, const std::function<bool()>& stopped) {
  AUGUR_TRY_ASSIGN(opened, OpenIndex(place, {.root_hash = root_hash}));
  const IndexReader& index = *opened.index;
  const Tree tree(&index);
  DefectSink sink(on_defect, on_progress, stopped);

  VerifyBlocks(index, threads, &sink);
  AUGUR_TRY(sink.GoesOn());
  const TreeCounts counts = VerifyTree(index, tree, threads, &sink);
  AUGUR_TRY(sink.GoesOn());
  RecordList records(tree, counts.full_count, threads);
  const ShardCounts shard_counts = VerifyShards(index, place.path(), *opened.files, tree, threads, &records, &sink);
  AUGUR_TRY(sink.GoesOn());
  const RecordCounts record_counts = VerifyRecords(index, place.path(), *opened.files, tree, records, threads, &sink);
  AUGUR_TRY(sink.GoesOn());
  VerifyCounts(index, counts, record_counts.distinct_bytes, &sink);
  return VerifyReport{.index_blocks = index.BlockCount(),
                      .entries = counts.entry_count,
                      .shards = shard_counts.shard_count,
                      .records = record_counts.record_count,
                      .record_bytes = record_counts.record_bytes,
                      .catalogue_items = shard_counts.item_count,
                      .defects = sink.defect_count()};
}

}  // namespace augur
