// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "augur/status.h"

namespace augur {

inline constexpr const char* kManifestName = "manifest";

// For a file of a store that is damaged, too short or gone, whichever it is.
inline constexpr std::string_view kCopyBackCure =
    "copy it back from where the store came from, or pack the store again";

// What the manifest of a store says (FORMAT.md section 2). The name of the index follows from the generation.
struct Manifest {
  uint32_t version = 2;     // of the format
  uint64_t generation = 0;  // from 1
  uint64_t index_bytes = 0;
  // Lower-case hex digits: in version 1 the XXH3-128 of the index header, in version 2 its SHA-256, the root hash.
  std::string index_id;
  std::string writer;  // "augurpack 0.1.0"
  // A line that readers ignore, "x-KEY VALUE"; not read. Empty: none.
  std::string note = {};
};

// "index-00000003": REQUIRES: 1 <= generation <= 99,999,999.
std::string IndexName(uint64_t generation);
inline constexpr uint64_t kGenerationMax = 99'999'999;  // what 8 digits hold

// "shard-00000003-00017".
std::string ShardName(uint64_t generation, uint32_t number);

// The manifest as a text with its checksum. REQUIRES: what ParseManifest would take.
std::string RenderManifest(const Manifest& manifest);

// Reads a manifest. kCorrupt: it breaks a rule of section 2, with the defect but not the file. kUnsupported: its first
// line names another version.
Result<Manifest> ParseManifest(std::string_view text);

// Reads and parses FOLDER/manifest. kNotFound: there is no such folder, or no manifest in it.
Result<Manifest> ReadManifest(const std::string& folder);
// The same for an open folder (O_PATH will do); failures do not name the folder.
Result<Manifest> ReadManifestAt(int folder_fd);

}  // namespace augur
