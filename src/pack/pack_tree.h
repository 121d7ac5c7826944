// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/glob.h"
#include "pack/pack_observer.h"

namespace augur {

struct TreeOptions {
  std::string source;
  std::string store;  // the folder that `writer` writes to; it also takes temporary files
  PathFilter filter;
  bool resume = false;
  bool check_room = false;    // that the disk has room for all files
  unsigned read_threads = 0;  // 0: the default
};

// Adds the folder `options.source` to `writer` in path order: the walk lists it with some threads, the read window
// reads it with more, and the caller's thread writes. Memory: 64 MiB, and what the walk says; descriptors: under 100.
// kInvalid: the source is no folder, or is the store. kNoSpace: the disk is full, or cannot take what the walk has
// found so far. kNotFound: the filter includes no file. kStopped: the observer said so. Otherwise what the observer
// made of a problem, or a failure of the writer.
Status PackTree(const TreeOptions& options, StoreWriter& writer, PackObserver& observer);

}  // namespace augur
