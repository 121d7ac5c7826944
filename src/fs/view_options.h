// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "fs/decode_pool.h"
#include "fs/decoded_files.h"
#include "fs/lasting_views.h"
#include "views/view_spec.h"

namespace augur {

struct ViewOptions {
  DecodePool* pool = nullptr;             // outlives the file system; nullptr: there are no views
  uint64_t bytes_max = 0;                 // for the files of views, rendered and being rendered
  uint64_t archive_tables_bytes_max = 0;  // for the tables of views with archives
  size_t gathered_reads_max = 0;          // reads of many small records at a time, of kReadBytesMax each
  std::optional<ViewSpec> root;           // the view that the root shows; none: the original files
  DecodedSource decoded = {};             // outlives the file system
  bool in_shared_memory = false;          // rendered files are kept where mounts of other stores find them
  LastingViews* lasting = nullptr;        // as of ViewTable; outlives the file system
};

}  // namespace augur
