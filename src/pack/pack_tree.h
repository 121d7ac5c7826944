// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/glob.h"
#include "pack/pack_observer.h"
#include "pack/tree_source.h"

namespace augur {

struct TreeOptions {
  std::string source;  // for messages
  std::string store;   // the folder that `writer` writes to; it also takes temporary files
  PathFilter filter;
  bool resume = false;
  bool check_room = false;  // that the disk has room for all files
  unsigned read_threads = 16;
};

// Adds the source to `writer` in path order: the walk lists it with some threads, the read window reads it with more,
// and the caller's thread writes. Memory: 64 MiB, and what the walk says; descriptors of a folder: under 100. kNoSpace:
// the disk is full, or cannot take what the walk has found so far. kNotFound: the filter includes no file. kStopped:
// the observer said so. Otherwise what the observer made of a problem, a failure that is one of all files of the
// source, or a failure of the writer.
Status PackTree(const TreeSource& source, const TreeOptions& options, StoreWriter& writer, PackObserver& observer);

}  // namespace augur
