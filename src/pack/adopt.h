// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/pack_observer.h"

namespace augur {

struct AdoptTarsOptions {
  std::vector<std::string> tars;
  std::string store;          // the folder that `writer` writes to
  bool nested = false;        // a member x.tar becomes folder x/
  bool classes = false;       // the tars are of WebDataset: see ImageFolder
  bool absolute = false;      // the store names the tars by absolute paths, not relative to its folder
  bool ignore_zeros = false;  // a tar ends at the end of its bytes and not at its end mark
};

// Adds what is in uncompressed tars to `writer` without copying it: each tar becomes a foreign shard, read once from
// beginning to end. Memory: 24 MiB a tar, one tar at a time.
// kInvalid: not an uncompressed tar (the text has the cure), a name with '..', a sample
// without a class. kUnsupported: a sparse member, whose
// bytes are not contiguous. kCorrupt: broken or cut off, or something follows a tar's
// end mark. kChanged: a tar changed while it was read. kStopped: the
// observer said so. Otherwise a failure of the system or the writer.
Status AdoptTars(const AdoptTarsOptions& options, StoreWriter& writer, PackObserver& observer);

}  // namespace augur
