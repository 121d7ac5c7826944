// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "archives/archive_files.h"
#include "augur/store.h"
#include "decode/resize.h"
#include "tools/commands/pack_session.h"
#include "views/view_spec.h"

namespace augur {

// ArchiveFileWriter writes archives of one store in one view, with the bytes that a mount shows. Room between images is
// not written: it is a hole, which reads as zeros. One thread. Memory: one image, the array made of it, and the pieces
// of a window.
class ArchiveFileWriter {
 public:
  // All must outlive it.
  ArchiveFileWriter(const Store& store, const ViewSpec& spec, PackSession& session)
      : store_(store), spec_(spec), session_(session) {}

  // Writes the shard into the new file `fd`. `path` is for messages. Failures of the store, of writing, and of an image
  // that cannot be decoded, by its name.
  Status Write(const ArchiveFiles& set, uint32_t shard, int fd, const std::string& path);

 private:
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  Status Add(const ArchivePiece& piece, int fd, const std::string& path);
  Status AddRoom(uint64_t bytes, int fd, const std::string& path);
  void Append(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  Status Load(const Entry& image);
  Status Make(const Entry& image);

  const Store& store_;
  const ViewSpec& spec_;
  PackSession& session_;
  Resizer resizer_;
  std::vector<std::byte> out_;
  uint64_t number_ = kNone;  // of the entry whose bytes image_ has
  std::vector<std::byte> image_;
  uint64_t made_ = kNone;  // of the entry of which array_ was made
  std::vector<std::byte> array_;
};

}  // namespace augur
