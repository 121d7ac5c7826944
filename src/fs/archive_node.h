// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "archives/archive_files.h"
#include "fs/node.h"

namespace augur {

// Which archive a node is (Node::entry): that of a folder of the store, and its number there. It is a function of the
// two alone, so that a daemon that goes on with a mount needs no table. No entry of a store has such a number: these
// have the highest bit, and a store of half as many entries takes more than an index may.
struct ArchiveNode {
  static constexpr uint64_t kFlag = uint64_t{1} << (Node::kViewShift - 1);
  static constexpr int kFileBits = 18;
  // The indexes of shards are numbered from here on, and above them the files beside archives (ArchiveInfoFile).
  static constexpr uint32_t kFirstIndex = uint32_t{1} << (kFileBits - 1);
  static constexpr uint32_t kFirstInfo = (uint32_t{1} << kFileBits) - 16;
  // In front of these the parts of a folder that has the archives of one folder (ArchivePart).
  static constexpr uint32_t kFirstPart = kFirstInfo - ArchiveFiles::kPartsMax;
  // Folders from this entry on have no archives. An index has the folders of the upper levels first.
  static constexpr uint64_t kFoldersMax = uint64_t{1} << (Node::kViewShift - 1 - kFileBits);
  static_assert(ArchiveSpec::kShardsMax < kFirstIndex && kFirstIndex + ArchiveSpec::kShardsMax < kFirstPart);

  uint64_t folder = 0;  // entry; of a file beside archives the folder that it lies in
  uint32_t file = 0;    // number of the shard; kFirstIndex and that; or kFirstPart or kFirstInfo and another one

  bool is_info() const { return file >= kFirstInfo; }
  bool is_part() const { return !is_info() && file >= kFirstPart; }
  uint32_t part() const { return file - kFirstPart; }  // REQUIRES: is_part()
  bool is_index() const { return file >= kFirstIndex && file < kFirstPart; }
  uint32_t shard() const { return is_index() ? file - kFirstIndex : file; }
  uint64_t entry() const { return kFlag | folder << kFileBits | file; }
  static std::optional<ArchiveNode> FromEntry(uint64_t entry) {
    if ((entry & kFlag) == 0) return std::nullopt;
    return ArchiveNode{.folder = (entry & (kFlag - 1)) >> kFileBits,
                       .file = static_cast<uint32_t>(entry & ((uint64_t{1} << kFileBits) - 1))};
  }
};

}  // namespace augur
