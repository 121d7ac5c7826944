// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "augur/status.h"
#include "pack/archive_reader.h"
#include "pack/gzip_stream.h"

namespace augur {

// Decompressor unpacks a stream of any compression that we know, or of none. It stands in front of the reader of the
// tar, and not within it, because that stops at the tar's end. The checksum of the whole stands behind that end, and is
// only compared by who reads on. One thread.
class Decompressor {
 public:
  // `source` begins with `head`, some first bytes of it; `name` is for messages. kInvalid: it is empty. What the source
  // failed with.
  static Result<std::unique_ptr<Decompressor>> Open(ArchiveReader::Source source, std::span<const std::byte> head,
                                                    const std::string& name);

  // The next unpacked bytes, empty at the end; valid until the next call. kCorrupt: damaged or cut off; what the source
  // failed with.
  Result<std::span<const std::byte>> Next();
  // Whether there was anything to unpack.
  bool compressed() const;

 private:
  Decompressor() = default;

  // One of the two.
  std::unique_ptr<GzipStream> gzip_;
  std::unique_ptr<ArchiveReader> other_;
};

}  // namespace augur
