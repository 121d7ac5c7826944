// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace augur {

// XXH3-128 of a record or of a block of one.
struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Hash128&) const = default;
};

// On disk, never renumber (FORMAT.md section 5).
enum class ImageKind : uint8_t { kNone = 0, kJpeg = 1, kPng = 2 };

// What the header of an image says. All zero when the file is not an image that we know.
struct ImageInfo {
  uint32_t width = 0;   // pixels, as coded: before any EXIF orientation
  uint32_t height = 0;  // pixels
  uint32_t exif_bytes = 0;
  ImageKind kind = ImageKind::kNone;
  uint8_t channels = 0;     // components of a JPEG; of a PNG by colour type (palette counts as 3)
  uint8_t orientation = 0;  // EXIF tag, 1 to 8; 0: none
  uint8_t bit_depth = 0;    // bits of a sample
  bool operator==(const ImageInfo&) const = default;
};

enum class EntryType { kDirectory, kFile, kSymlink };

// Shard number of a regular file without bytes.
inline constexpr uint32_t kNoShard = 0xFFFFFFFF;

// A node of the tree, copied out of the index after every check of FORMAT.md section 5. `name` points into the
// index and lives as long as the Store.
struct Entry {
  uint64_t number = 0;
  uint64_t parent = 0;
  std::string_view name;  // empty for the root
  EntryType type = EntryType::kFile;
  uint32_t mode = 0;  // type and permission bits
  int64_t mtime_sec = 0;
  uint32_t mtime_nsec = 0;
  uint64_t size = 0;    // bytes of a file or link target; number of children of a directory
  uint64_t offset = 0;  // of the record in its shard; of the target in NAMES; number of the first child
  uint32_t shard = kNoShard;
  uint64_t first_block = 0;  // of a record over block_bytes, its first item in BLOCKS
  Hash128 hash;
  ImageInfo image;
};

}  // namespace augur
