// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>

#include "augur/status.h"
#include "augur/store_writer.h"

namespace augur {

// HeldFolders keeps folders back until something below them is packed, for --include, which leaves out folders in which
// nothing was packed. In any order: an archive may list all of its folders before the first file, or each behind its
// files. One thread. Memory: the paths of the folders.
class HeldFolders {
 public:
  // `hold` false: every folder is added at once.
  HeldFolders(StoreWriter& writer, bool hold) : writer_(writer), hold_(hold) {}

  // A folder comes. Failures are those of StoreWriter::AddDirectory.
  Status Add(const std::string& path, const Attributes& attributes);
  // Something else of this path is going to be added: its folders must be there.
  Status Release(std::string_view path);
  // kNotFound: folders are held back, and nothing else ever came, so --include matches nothing. `source` is for the
  // message.
  Status CheckUsed(const std::string& source) const;

 private:
  StoreWriter& writer_;
  const bool hold_;
  std::map<std::string, Attributes> held_;
  std::unordered_set<std::string> used_;  // something below them is packed
};

}  // namespace augur
