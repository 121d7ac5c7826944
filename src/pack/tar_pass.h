// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/archive_reader.h"
#include "pack/container.h"
#include "pack/image_folder.h"
#include "pack/pack_observer.h"
#include "pack/record_hasher.h"

namespace augur {

// TarPass reads one uncompressed tar from beginning to end and adds its members to the writer as records that lie in
// it. Where a member lies is computed from libarchive's position. What libarchive hands out is compared with the
// bytes read at that place, byte for byte. So a layout which we misunderstand is a failure and never a wrong index.
// One thread, one Run. Memory: 8 MiB, and the input's.
class TarPass {
 public:
  // With `classes` files go into folders of classes (nullptr: each under its own name). All must outlive it.
  TarPass(Container& tar, bool nested, ArchiveReader::TarEnd tar_end, ImageFolder* classes, StoreWriter& writer,
          PackObserver& observer);
  Status Run();

 private:
  struct Piece {
    uint64_t offset = 0;
    std::span<const std::byte> bytes;
  };
  // A tar, or one within it.
  struct Level {
    ArchiveReader* reader;
    std::string name;    // for messages
    std::string prefix;  // of its paths: empty, or ends in '/'
    uint64_t offset;     // of its first byte in the outermost tar
    int depth;
  };

  Result<std::span<const std::byte>> NextPiece();
  Status RunLevel(Level& level);
  Status Take(Level& level, const Member& member);
  Status LeaveOut(const std::string& what, const std::string& path);
  Status TakeHardLink(const Level& level, const Member& member, const std::string& path);
  Status TakeFile(Level& level, const Member& member, const std::string& path);
  Status TakeNested(Level& level, const Member& member, const std::string& path);
  Result<bool> NextBytes(Level& level, const std::string& what, uint64_t start, uint64_t* at,
                         std::span<const std::byte>* bytes);
  Status CheckPlace(uint64_t offset, std::span<const std::byte> bytes) const;

  Container& tar_;
  const bool nested_;
  const ArchiveReader::TarEnd tar_end_;
  ImageFolder* const classes_;
  StoreWriter& writer_;
  PackObserver& observer_;

  std::array<Piece, 2> pieces_;  // the one being used and the one before it
  uint64_t read_bytes_ = 0;
  std::set<std::string> special_;  // fifos, sockets, devices, which hard links may lead to

  RecordHasher hasher_;
};

}  // namespace augur
