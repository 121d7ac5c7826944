// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/container.h"
#include "pack/container_cursor.h"
#include "pack/mds_columns.h"
#include "pack/pack_observer.h"
#include "pack/sample_folders.h"

namespace augur {

// MdsPass reads a shard of MosaicML Streaming (MDS, streaming/base/format/mds) from beginning to end and adds the image
// of each sample. The shard has a number of samples, where each begins and the last ends, a JSON text that describes
// the columns, then the samples. There are no checksums. One thread, one Run. Memory: one sample, and 4 bytes for each.
class MdsPass {
 public:
  // `names_from` is the column of the names; empty: the usual ones. All must outlive it.
  MdsPass(Container& container, std::string names_from, SampleFolders& folders, PackObserver& observer);
  // Whether the container is such a shard. What the input failed with.
  static Result<bool> Recognizes(Container& container, std::span<const std::byte> head);
  // kCorrupt: cut off, offsets or sizes that do not fit. kUnsupported: no column with image files, or several.
  // kInvalid: there is no column of the asked name.
  Status Run();

 private:
  Status TakeSample(const MdsColumns& columns, std::span<const std::byte> bytes, uint64_t offset,
                    const std::string& what);

  Container& container_;
  ContainerCursor cursor_;
  const std::string names_from_;
  SampleFolders& folders_;
  PackObserver& observer_;
};

}  // namespace augur
