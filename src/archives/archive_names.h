// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "views/view_spec.h"

namespace augur {

// The archives of the root of a store are called as those of a folder of this name would be.
inline constexpr std::string_view kRootArchiveName = "all";

// What the index of a TFRecord file has behind the name of that.
inline constexpr std::string_view kIndexEnding = ".idx";

// The name of a shard says whose it is, and lies beside that folder. X-000003.tar is shard 3 of the folder X.
// X-00003-of-00010 is shard 3 of 10; of TFDS it is NAME-X.tfrecord-00003-of-00010. A TFRecord file has an index for
// DALI beside it, with .idx behind its name. Of other kinds a folder has one name: X.h5, or that of a folder for its
// archives, X.mds or X.zarr.
struct ArchiveName {
  std::string_view folder;
  uint32_t shard = 0;
  uint32_t shards = 0;    // of all; 0 in the names of tar files
  bool is_index = false;  // the file beside it
};

// REQUIRES for both: spec.has_archives().
std::string NameOfArchive(const ViewSpec& spec, const ArchiveName& name);
// Nothing: no archive has such a name.
std::optional<ArchiveName> ParseArchiveName(const ViewSpec& spec, std::string_view text);

// The number of decimal digits, leading zeros too. Nothing: there is anything else.
std::optional<uint32_t> ReadDigits(std::string_view text);

}  // namespace augur
