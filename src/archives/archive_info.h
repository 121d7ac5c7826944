// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace augur {

// A file that says which archives lie beside it.
inline constexpr const char* kArchiveInfoName = "_info.json";

// The archives of one folder: a split, as timm calls it.
struct ArchiveSplit {
  std::string name;  // of the folder; a byte that is no UTF-8 becomes U+FFFD
  std::vector<std::string> files;
  std::vector<uint32_t> sample_counts;  // of each
};

// The text of _info.json, as timm reads it: with it, no archive is read to count samples. `name`: of the data set.
// Source: timm/data/readers/reader_wds.py.
std::string ArchiveInfoText(const std::string& name, const std::vector<ArchiveSplit>& splits);

}  // namespace augur
