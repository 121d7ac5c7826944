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

struct RecordCounts {
  uint64_t distinct_bytes = 0;  // of all records, those that cannot be read as well
  uint64_t record_count = 0;    // read whole, each once
  uint64_t record_bytes = 0;    // of those
};

// Reads every record once, in the order of the shards, and compares it and each of its blocks with the hashes of every
// file that has it. A shard that cannot be opened is one defect, not one for each record.
RecordCounts VerifyRecords(const IndexReader& index, const std::string& folder, const StoreFiles& files,
                           const Tree& tree, const RecordList& records, int threads, DefectSink* sink);

}  // namespace augur
