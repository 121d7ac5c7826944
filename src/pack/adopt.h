// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/pack_observer.h"
#include "pack/tar_input.h"

namespace augur {

// How the members of tars lie in the tree.
struct TarLayout {
  bool nested = false;        // a member x.tar becomes folder x/
  bool classes = false;       // the tars are of WebDataset: see ImageFolder
  bool ignore_zeros = false;  // a tar ends at the end of its bytes and not at its end mark
};

struct AdoptTarsOptions {
  std::vector<std::string> tars;
  std::string store;      // the folder that `writer` writes to
  bool absolute = false;  // the store names the tars by absolute paths, not relative to its folder
  TarLayout layout;
};

// Adds what is in uncompressed tars to `writer` without copying it: each tar becomes a foreign shard, read once from
// beginning to end. Memory: 24 MiB a tar, one tar at a time.
// kInvalid: not an uncompressed tar (the text has the cure), a name with '..', a sample
// without a class. kUnsupported: a sparse member, whose
// bytes are not contiguous. kCorrupt: broken or cut off, or something follows a tar's
// end mark. kChanged: a tar changed while it was read. kStopped: the
// observer said so. Otherwise a failure of the system or the writer.
Status AdoptTars(const AdoptTarsOptions& options, StoreWriter& writer, PackObserver& observer);

// The same for one tar, wherever it is, of `tar_count`. It is foreign shard `shard` of the writer already; `name` is
// for messages, and its last part begins the names of files in folders of classes.
Status AdoptTar(TarInput& input, const std::string& name, uint32_t shard, const TarLayout& layout, size_t tar_count,
                StoreWriter& writer, PackObserver& observer);

}  // namespace augur
