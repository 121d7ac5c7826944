// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "augur/status.h"

namespace augur {

// LstFile is the list that im2rec wrote a RecordIO file from: on each line a number, labels and a path, with a tab
// between them. Constant after ReadBeside. Memory: the paths.
class LstFile {
 public:
  // Reads X.lst beside X.rec; there may be none. kInvalid: a line of another form, a number that comes twice. Fails as
  // reading a file does, too.
  Status ReadBeside(const std::string& container_path);
  // The path of the record with this number; nullptr: it is in no list.
  const std::string* PathOf(uint64_t number) const;

 private:
  std::unordered_map<uint64_t, std::string> paths_;
};

}  // namespace augur
