// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"

namespace augur {

// HeldFolders keeps folders back until something below them is packed, for --include, which leaves out folders in which
// nothing was packed. For input that lists a folder before what is in it. One thread. Not for input in any order: a
// folder that comes again after its files is added at the next one.
class HeldFolders {
 public:
  // `hold` false: every folder is added at once.
  HeldFolders(StoreWriter& writer, bool hold) : writer_(writer), hold_(hold) {}

  // A folder comes. Failures are those of StoreWriter::AddDirectory.
  Status Add(const std::string& path, const Attributes& attributes);
  // Something else of this path is going to be added: its folders must be there.
  Status Release(std::string_view path);

 private:
  struct Folder {
    std::string path;
    Attributes attributes;
  };
  StoreWriter& writer_;
  const bool hold_;
  std::vector<Folder> folders_;  // each within the one before it
};

}  // namespace augur
