// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "augur/status.h"
#include "augur/store.h"
#include "base/unique_fd.h"
#include "store/identity.h"
#include "store/index_reader.h"
#include "store/manifest.h"
#include "store/shard_rights.h"

namespace augur {

// A store's folder and one of its indexes, open and locked against removal.
struct OpenedIndex {
  UniqueFd folder_fd;  // O_PATH
  Manifest manifest;   // as it was read: it may name a later generation than the one opened
  std::unique_ptr<IndexReader> index;
  IndexPlace place;
  std::unique_ptr<const ShardRights> rights;  // uses folder_fd
};

// Reads the manifest of the store in `folder`, opens and locks the index of the generation that is asked for (0: the
// one that the manifest names), and checks its header. Tries again when the index is removed meanwhile, because the
// manifest then names another (FORMAT.md section 7). kNotFound: no store, or the asked generation is not there. kBusy:
// an index stays locked by whoever removes generations. kInvalid: its root hash is not the one asked for. Failures name
// the folder. Of the options it uses generation, index_bytes_max and root_hash.
Result<OpenedIndex> OpenIndex(const std::string& folder, const StoreOptions& options);

}  // namespace augur
