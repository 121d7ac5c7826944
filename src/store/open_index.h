// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "augur/status.h"
#include "augur/store.h"
#include "store/index_reader.h"
#include "store/manifest.h"
#include "store/store_files.h"

namespace augur {

// The files of one generation of a store, and its index.
struct OpenedIndex {
  Manifest manifest;  // as it was read: it may name a later generation than the one opened
  std::unique_ptr<StoreFiles> files;
  std::unique_ptr<IndexReader> index;
};

// Opens the index of the generation that is asked for (0: the one that the manifest names), and checks its header.
// Tries again when the index is removed meanwhile, because the manifest then names another (FORMAT.md section 7).
// kNotFound: no store, or the asked generation is not there. kBusy: an index stays locked by whoever removes
// generations. kInvalid: its root hash is not the one asked for. Failures name the place. Of the options it uses
// generation, index_bytes_max and root_hash.
Result<OpenedIndex> OpenIndex(const StorePlace& place, const StoreOptions& options);

}  // namespace augur
