// SPDX-License-Identifier: Apache-2.0
#pragma once

#define ZLIB_CONST
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/archive_reader.h"

namespace augur {

// GzipStream unpacks gzip, and checks the length and CRC-32 at the end of each of its members, which libarchive does
// not. Several members behind each other are one stream, zeros behind the last are padding, as for gzip(1). One thread.
// Not for bytes to be trusted before the end: damage to them is known there only.
class GzipStream {
 public:
  static bool Recognizes(std::span<const std::byte> head);

  // `source` begins with the gzip's first byte; `name` is for messages.
  GzipStream(ArchiveReader::Source source, std::string name);
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  // The next unpacked bytes, empty at the end; valid until the next call. kCorrupt: damaged or cut off; what the source
  // failed with.
  Result<std::span<const std::byte>> Next();

 private:
  Status Damaged(const std::string& how) const;
  Status SomethingFollows() const;

  const ArchiveReader::Source source_;
  const std::string name_;
  z_stream zlib_ = {};
  bool within_ = true;             // a member, not between two or behind the last
  bool padded_ = false;            // only zeros may come
  uint64_t read_bytes_ = 0;        // of the source, with those in in_
  uint64_t member_start_ = 0;      // of the current member, or behind the last
  std::span<const std::byte> in_;  // of the source, not yet unpacked
  std::vector<std::byte> out_;
};

}  // namespace augur
