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
// (FORMAT.md section 6). Every frame and item of a catalogue is checked by itself. The index and the catalogue must say
// the same of a record which both know, and the catalogue must list every record of the index in its shard. Records
// must end before it, and the shards of a generation must have one base generation. A shard that no entry needs may be
// missing. Reads no record. Memory: one frame a thread.
ShardCounts VerifyShards(const IndexReader& index, const std::string& folder, const StoreFiles& files, const Tree& tree,
                         int threads, RecordList* records, DefectSink* sink);

}  // namespace augur
