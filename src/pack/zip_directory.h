// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/zip_end.h"
#include "pack/zip_names.h"

namespace augur {

// A member of a zip as its directory has it (APPNOTE.TXT 4.3.12).
struct ZipMember {
  ZipName name;
  uint64_t offset = 0;        // of its own header, in the archive
  uint64_t packed_bytes = 0;  // in the archive
  uint64_t bytes = 0;
  uint32_t crc = 0;  // CRC-32
  uint16_t method = 0;
  uint16_t flags = 0;
  uint8_t system = 0;       // whose attributes `attributes` are: 3 Unix, 0 MS-DOS
  uint32_t attributes = 0;  // of Unix: st_mode in the upper half
  int64_t mtime_sec = 0;    // of the extended time, else of the MS-DOS one, which is in the local zone
};

// Reads the directory of the zip in `fd`, whose end is `end`. Members come in the order in which they lie in the file,
// which is that of libarchive's reader. `name` is for messages. kCorrupt: it is damaged. Memory: the members.
Result<std::vector<ZipMember>> ReadZipDirectory(int fd, const ZipEnd& end, const std::string& name);

}  // namespace augur
