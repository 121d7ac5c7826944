// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "views/view_spec.h"

namespace augur {

// The archives of one folder: a split, as timm and TFDS call it.
struct ArchiveSplit {
  std::string name;
  std::vector<std::string> files;
  std::vector<uint32_t> sample_counts;  // of each
  uint64_t bytes = 0;                   // of all files
  std::vector<std::string> classes;     // by label
  bool is_whole = false;                // it is that of the root, in a store without a folder train, val or the like
};

// Files beside archives, which say what these are. A view of tar files has _info.json, which timm reads: with it, no
// archive is read to count samples. One with keys=tfds has dataset_info.json, features.json and label.labels.txt, and
// the folders NAME and 1.0.0, in which TFDS looks for them: links to the folder that they are in. TFDS has its own
// meaning of `all`, so a split that is the whole store is called `train` there.
// Source: timm/data/readers/reader_wds.py; tensorflow_datasets/core/{dataset_info,splits}.py, features/.
struct ArchiveInfoFile {
  std::string name;
  std::string text;  // of a link its target
  bool is_link = false;
};

// The names, always in the same order.
std::vector<std::string> ArchiveInfoNames(const ViewSpec& spec);
// Whether the file with this number among the names is a link; all links have this target.
bool IsArchiveInfoLink(const ViewSpec& spec, size_t number);
inline constexpr std::string_view kArchiveInfoLinkTarget = ".";

// The files. `name`: of the data set, for _info.json. Bytes of names that are no UTF-8 become U+FFFD.
std::vector<ArchiveInfoFile> MakeArchiveInfo(const ViewSpec& spec, const std::string& name,
                                             const std::vector<ArchiveSplit>& splits);

}  // namespace augur
