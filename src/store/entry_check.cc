// SPDX-License-Identifier: Apache-2.0
#include "store/entry_check.h"

#include "augur/entry.h"
#include "augur/store.h"
#include "store/hash.h"
#include "store/sha256.h"

namespace augur {
namespace {

constexpr uint8_t kChannelsMax = 4;     // a JPEG has up to 4 components, a PNG up to 4 channels
constexpr uint8_t kOrientationMax = 8;  // of the EXIF tag

bool IsZero(const format::Hash& hash) { return hash.low == 0 && hash.high == 0; }

template <typename T>
bool HasImageField(const T& image) {
  return (image.width | image.height | image.exif_bytes) != 0 ||
         (image.image_kind | image.channels | image.orientation | image.bit_depth) != 0;
}

const char* DirectoryDefect(uint64_t number, const format::Entry& entry, const EntryLimits& limits) {
  if (entry.size == 0) {
    if (entry.offset != 0) return "an empty directory with a first child";
  } else {
    if (entry.offset <= number) return "the first child is not above its directory";
    if (entry.offset > limits.entry_count || entry.size > limits.entry_count - entry.offset) {
      return "the children leave the entry table";
    }
  }
  if (entry.shard != 0) return "a directory with a shard";
  if (!IsZero(entry.hash)) return "a directory with a hash";
  if (entry.first_block != 0) return "a directory with a first block";
  return HasImageField(entry) ? "a directory with an image field" : nullptr;
}

const char* SymlinkDefect(const format::Entry& entry, const EntryLimits& limits) {
  if (entry.size == 0) return "a symbolic link without a target";
  if (entry.size > format::kPathBytesMax) return "a link target over 4,095 bytes";
  if (entry.offset > limits.names_bytes || entry.size > limits.names_bytes - entry.offset) {
    return "the link target leaves NAMES";
  }
  if (entry.shard != 0) return "a symbolic link with a shard";
  if (!IsZero(entry.hash)) return "a symbolic link with a hash";
  if (entry.first_block != 0) return "a symbolic link with a first block";
  return HasImageField(entry) ? "a symbolic link with an image field" : nullptr;
}

const char* FileDefect(const format::Entry& entry, const EntryLimits& limits) {
  if (entry.size == 0) {
    static const Hash128 no_bytes = HashBytes128({});
    if (entry.shard != kNoShard) return "a file without bytes with a shard";
    if (entry.offset != 0) return "a file without bytes with an offset";
    if (entry.first_block != 0) return "a file without bytes with a first block";
    if (entry.hash.low != no_bytes.low || entry.hash.high != no_bytes.high) return "not the hash of no bytes";
    return ImageDefect(entry);
  }
  if (entry.shard >= limits.shard_count) return "the shard is not in the shard table";
  if (entry.size > kBlockBytes) {
    const uint64_t blocks = (entry.size - 1) / kBlockBytes + 1;
    if (entry.first_block > limits.block_count || blocks > limits.block_count - entry.first_block) {
      return "the block hashes leave BLOCKS";
    }
  } else if (entry.first_block != 0) {
    return "a file of one block with a first block";
  }
  return ImageDefect(entry);
}

}  // namespace

const char* EntryDefect(uint64_t number, const format::Entry& entry, const EntryLimits& limits) {
  if (entry.reserved_10 != 0) return "reserved field is not zero";
  if (entry.mtime_nsec > format::kNanosecondsMax) return "nanoseconds over 999,999,999";
  if (entry.name_offset > limits.names_bytes || entry.name_bytes > limits.names_bytes - entry.name_offset) {
    return "the name leaves NAMES";
  }
  const uint32_t type = entry.mode & ~format::kPermissionMask;
  if (number == 0) {
    if (type != format::kTypeDirectory) return "the root is not a directory";
    if (entry.name_bytes != 0) return "the root has a name";
    if (entry.parent != 0) return "the root has a parent";
  } else {
    if (entry.name_bytes == 0) return "a name of 0 bytes";
    if (entry.name_bytes > format::kNameBytesMax) return "a name over 255 bytes";
    // This holds the parent below the entry count as well, and every walk to the root finite.
    if (entry.parent >= number) return "the parent is not below its entry";
  }
  switch (type) {
    case format::kTypeDirectory: return DirectoryDefect(number, entry, limits);
    case format::kTypeSymlink: return SymlinkDefect(entry, limits);
    case format::kTypeFile: return FileDefect(entry, limits);
    default: return "the type is not directory, regular file or symbolic link";
  }
}

const char* DigestDefect(const format::Entry& entry, const Digest& digest) {
  static const Digest no_bytes = Sha256({});
  if ((entry.mode & format::kTypeMask) != format::kTypeFile) {
    return digest == Digest{} ? nullptr : "a SHA-256 of what is not a regular file";
  }
  return entry.size > 0 || digest == no_bytes ? nullptr : "not the SHA-256 of no bytes";
}

const char* NameDefect(std::string_view name) {
  if (name == "." || name == "..") return "the name is '.' or '..'";
  for (const char c : name) {
    if (c == '/') return "a '/' in the name";
    if (c == '\0') return "a NUL in the name";
  }
  return nullptr;
}

const char* TargetDefect(std::string_view target) {
  return target.find('\0') != std::string_view::npos ? "a NUL in the link target" : nullptr;
}

template <typename T>
const char* ImageDefect(const T& image) {
  bool depth_ok = false;
  switch (image.image_kind) {
    case static_cast<uint8_t>(ImageKind::kNone):
      return HasImageField(image) ? "image fields without an image kind" : nullptr;
    case static_cast<uint8_t>(ImageKind::kJpeg): depth_ok = image.bit_depth == 8 || image.bit_depth == 12; break;
    case static_cast<uint8_t>(ImageKind::kPng):
      depth_ok = image.bit_depth == 1 || image.bit_depth == 2 || image.bit_depth == 4 || image.bit_depth == 8 ||
                 image.bit_depth == 16;
      break;
    default: return "an unknown image kind";
  }
  if (image.width == 0 || image.height == 0) return "an image without width or height";
  if (image.channels == 0 || image.channels > kChannelsMax) return "image channels are not from 1 to 4";
  if (image.orientation > kOrientationMax) return "image orientation over 8";
  return depth_ok ? nullptr : "an image bit depth that its kind does not have";
}
template const char* ImageDefect(const format::Entry& image);
template const char* ImageDefect(const format::CatalogueItem& image);

const char* ExtentDefect(uint64_t offset, uint64_t size, const format::Shard& shard) {
  if (offset > shard.file_bytes || size > shard.file_bytes - offset) return "the record leaves its shard";
  const bool own = shard.kind == static_cast<uint16_t>(format::ShardKind::kOwn);
  return own && offset < sizeof(format::ShardHeader) ? "the record begins in the header of its shard" : nullptr;
}

}  // namespace augur
