// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "store/shard_writer.h"
#include "store/store_lock.h"
#include "store/write_folder.h"

namespace augur {

// A folder that is ours to write a generation into.
struct WriterStart {
  std::unique_ptr<WriteFolder> folder;  // all writing goes through it
  StoreLock lock;
  bool made_folder = false;             // by us, so ours to remove when nothing comes of it
  bool has_store = false;               // there is a generation already
  uint64_t generation = 0;              // the one to write
  uint64_t base_generation = 0;         // what its shard headers say (FORMAT.md section 6)
  std::vector<ShardProgress> progress;  // what can be resumed
};

// Makes the folder if need be, takes the lock, clears what a killed writer left or finds out how much of it can be gone
// on with. Outcomes: StoreWriter::Begin. A failure changes nothing else, but perhaps the lock file and the
// folder of the recipe.
Result<WriterStart> StartWriter(const std::string& path, const WriterOptions& options);

}  // namespace augur
