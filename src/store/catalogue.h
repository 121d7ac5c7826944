// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "store/format.h"

namespace augur {

// An item of a catalogue (FORMAT.md section 6). Its views point into the bytes that it was decoded from.
struct CatalogueItem {
  format::CatalogueItem fixed{};  // item_bytes, path_bytes, target_bytes, block_count are derived from what follows
  Digest digest{};                // zero in a catalogue of version 1, which has none
  std::string_view path;
  std::string_view target;
  std::span<const std::byte> blocks;  // block_count items of BlockItemBytes, at any alignment
};

// Bytes of a block's hashes in an item: a format::Hash in version 1, a format::Block since.
constexpr size_t BlockItemBytes(uint32_t version) {
  return version == 1 ? sizeof(format::Hash) : sizeof(format::Block);
}

// Appends the item, as of format::kVersion, to the payload of a frame.
void EncodeItem(const CatalogueItem& item, std::string& payload);

// A frame of `item_count` items, header and all. REQUIRES: payload under 4 GiB.
std::string EncodeFrame(std::string_view payload, uint32_t item_count);

// Takes a payload of a shard of this version apart. kCorrupt, with the defect: item lengths that do not add up, a
// number of items other than `item_count`, reserved fields or padding not zero. Fields are not judged otherwise.
Result<std::vector<CatalogueItem>> DecodePayload(std::span<const std::byte> payload, uint32_t item_count,
                                                 uint32_t version);

// A frame and the bytes that its items point into. Movable: the items stay good.
struct CatalogueFrame {
  std::vector<std::byte> payload;
  std::vector<CatalogueItem> items;
};

// FrameReader reads the frames in a part of a file, one at a time. One thread at a time; the file is the
// caller's. Memory: that of the frame that it fills, its bytes and a CatalogueItem for each item.
class FrameReader {
 public:
  // Reads bytes of the file from an offset on, all of them or none.
  using Read = std::function<Status(std::span<std::byte> out, uint64_t offset)>;

  // Frames from byte `begin` to byte `end` of the file, which belongs to a shard of this version. `path` is for
  // messages.
  FrameReader(Read read, std::string path, uint64_t begin, uint64_t end, uint32_t version)
      : read_(std::move(read)), path_(std::move(path)), offset_(begin), end_(end), version_(version) {}

  // Reads the next frame. False at the end. kCorrupt, with file and defect: the frame breaks a rule; offset() is then
  // where it begins.
  Result<bool> Next(CatalogueFrame& frame);

  // End of the last good frame.
  uint64_t offset() const { return offset_; }

 private:
  Status Corrupt(const std::string& defect) const;

  Read read_;
  std::string path_;
  uint64_t offset_;
  uint64_t end_;
  uint32_t version_;
};

}  // namespace augur
