// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/zip_end.h"

namespace augur {

// A member's name as the directory of its zip has it.
struct ZipName {
  std::string bytes;
  bool utf8 = false;  // the zip says so; else the character set is not known
};

// Reads the directory of the zip in `fd`, whose end is `end`. Returns the names in the order in which the members lie
// in the file, which is that of libarchive's reader. `name` is for messages. kCorrupt: it is damaged. Memory: the
// names.
Result<std::vector<ZipName>> ReadZipNames(int fd, const ZipEnd& end, const std::string& name);

// Whether the member's own header may have `header` for what the directory has as `directory`. Both are the same but
// for backslashes and a folder's slash at the end, or `directory` is not ASCII: there libarchive converts characters.
bool MayBeSameName(const std::string& header, const std::string& directory);

}  // namespace augur
