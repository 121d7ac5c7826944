// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "augur/status.h"

namespace augur {

// What the end of a zip file says of it.
struct ZipEnd {
  uint64_t prefix_bytes = 0;  // before the archive, as those of a program that unpacks itself
  uint64_t member_count = 0;
  bool counts_all = false;  // the count is of 64 bits; else it is modulo 65,536, as many writers have it

  // Whether an archive with this many members can end so.
  bool Fits(uint64_t members) const { return (counts_all ? members : members & 0xffff) == member_count; }
};

// Reads the end record of the zip in `fd`, a file that can seek; `name` is for messages. kNotFound: there is none, so
// this is no zip or it is cut off. kUnsupported: a part of a split zip. kCorrupt: the record does not fit the file.
Result<ZipEnd> FindZipEnd(int fd, const std::string& name);

}  // namespace augur
