// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/container.h"
#include "pack/pack_observer.h"
#include "pack/sample_folders.h"

namespace augur {

// How the records of containers lie in the tree.
struct ContainerLayout {
  bool nested = false;        // a member x.tar of a tar becomes folder x/
  bool classes = false;       // tars are of WebDataset: see ImageFolder
  bool ignore_zeros = false;  // a tar ends at the end of its bytes and not at its end mark
  SampleLayout samples;       // of containers that have no paths
};

struct AdoptFilesOptions {
  std::vector<std::string> files;
  std::string store;      // the folder that `writer` writes to
  bool absolute = false;  // the store names the files by absolute paths, not relative to its folder
  ContainerLayout layout;
};

// Adds the records of containers to `writer` without copying them: each container becomes a foreign shard, read once
// from beginning to end. Its content tells its format. Memory: 24 MiB, one container at a time.
// kInvalid: nothing that can be adopted (the text has the cure), a name with '..', a sample without a class.
// kUnsupported: a record whose bytes are not contiguous or no image file. kCorrupt: broken or cut off, or something
// follows a tar's end mark. kChanged: a container changed while it was read. kStopped: the observer said so. Otherwise
// a failure of the system or the writer.
Status AdoptFiles(const AdoptFilesOptions& options, StoreWriter& writer, PackObserver& observer);

// The same for one container, wherever it is, of `container_count`.
Status AdoptContainer(Container& container, const ContainerLayout& layout, size_t container_count, StoreWriter& writer,
                      PackObserver& observer);

}  // namespace augur
