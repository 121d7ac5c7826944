// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "store/defect_sink.h"
#include "store/index_reader.h"
#include "store/record_list.h"
#include "store/store_files.h"
#include "store/tree.h"

namespace augur {

struct ShardCounts {
  uint64_t shard_count = 0;  // rows looked at
  uint64_t item_count = 0;   // of catalogues
};

// Checks every row of the shard table, every shard's size and header, and the trailer and catalogue of each own shard
// (FORMAT.md section 6): every frame and item by itself, that the index and the catalogue say the same of a record
// which both know, that the catalogue lists every record of the index in its shard, that records end before it, and
// that the shards of a generation have one base generation. A shard that no entry needs may be missing. Reads no
// record. Memory: one frame a thread.
ShardCounts VerifyShards(const IndexReader& index, const std::string& folder, const StoreFiles& files, const Tree& tree,
                         int threads, RecordList* records, DefectSink* sink);

}  // namespace augur
