// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace augur {

// A folder of a view that has the archives of one folder of the store, X.mds or X.zarr: which folders and texts are in
// it, beside the archives. Each is known by its number.
struct ArchivePart {
  std::string name;     // of the first one: as NameOfArchive
  uint32_t folder = 0;  // the part that it lies in; of the first one itself
  bool is_folder = false;
  std::string text;  // of a file, where ArchiveFiles::PartText gives no other one
};
using ArchiveParts = std::vector<ArchivePart>;

// The first part: the folder that has all others.
inline constexpr uint32_t kWholePart = 0;

}  // namespace augur
