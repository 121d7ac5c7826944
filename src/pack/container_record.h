// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "augur/digest.h"
#include "augur/entry.h"
#include "augur/status.h"
#include "augur/store_writer.h"

namespace augur {

// A file whose bytes lie in a container, as one pass over the container found it.
struct ContainerRecord {
  Attributes attributes;
  ImageInfo image;
  uint32_t shard = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  RecordHashes hashes;
};

// Adds it to `writer` as the file `path`, without a copy. Fails as StoreWriter does.
Status AddRecord(StoreWriter& writer, const std::string& path, const ContainerRecord& record);

}  // namespace augur
