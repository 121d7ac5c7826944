// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "augur/digest.h"

// The structures of FORMAT.md, byte for byte. Numbers and enum values here are on disk: never renumber.
// The format is little-endian, and so must the machine be: the structures are used as they lie in the file.
namespace augur::format {

static_assert(std::endian::native == std::endian::little, "AugurFS reads its little-endian index in place");

inline constexpr uint32_t kVersion = 2;     // of the manifest, the index and the shards that are written
inline constexpr uint32_t kVersionMin = 1;  // the oldest that is read

inline constexpr bool IsKnownVersion(uint32_t version) { return version >= kVersionMin && version <= kVersion; }

// Section 2.
inline constexpr size_t kManifestBytesMax = 4096;

// Section 8.
inline constexpr uint64_t kNameBytesMax = 255;
inline constexpr uint64_t kPathBytesMax = 4095;  // a path from the root, a link target, a shard locator
inline constexpr uint64_t kEntryCountMax = (uint64_t{1} << 40) - 2;
inline constexpr uint32_t kShardCountMax = 0xFFFFFFFE;
inline constexpr uint64_t kFileBytesMax = (uint64_t{1} << 63) - 1;
inline constexpr uint32_t kNanosecondsMax = 999'999'999;

// Type bits of a mode, as in stat(2) on Linux.
inline constexpr uint32_t kTypeMask = 0170000;
inline constexpr uint32_t kTypeDirectory = 0040000;
inline constexpr uint32_t kTypeFile = 0100000;
inline constexpr uint32_t kTypeSymlink = 0120000;
inline constexpr uint32_t kPermissionMask = 07777;

// XXH3-128 as it is stored: low 64 bits first.
struct Hash {
  uint64_t low;
  uint64_t high;
};
static_assert(sizeof(Hash) == 16);

// SHA-256 as it is stored.
using Digest = augur::Digest;
static_assert(sizeof(Digest) == 32 && std::is_trivially_copyable_v<Digest>);

// Section 3: the header of an index.
inline constexpr std::array<char, 8> kIndexMagic = {'A', 'U', 'G', 'U', 'R', 'I', 'D', 'X'};
inline constexpr uint64_t kBodyOffset = 65536;      // the header block ends and the body begins
inline constexpr uint64_t kBodyBlockBytes = 65536;  // what one item of CHECKSUMS covers, and one root checksum
inline constexpr size_t kSectionCountMin = 5;
inline constexpr size_t kSectionCountMax = 16;
inline constexpr uint64_t kSectionAlign = 64;
inline constexpr uint16_t kSectionVersion = 1;
inline constexpr uint16_t kSectionMustUnderstand = 1;  // a bit of Section::flags; the others are reserved

// On disk, never renumber.
enum class SectionId : uint32_t { kEntries = 1, kNames = 2, kShards = 3, kBlocks = 4, kChecksums = 5, kListing = 6 };

struct Section {
  uint32_t id;
  uint16_t version;
  uint16_t flags;
  uint64_t offset;
  uint64_t bytes;
  uint32_t item_bytes;
  uint32_t reserved;
};
static_assert(sizeof(Section) == 32);
static_assert(offsetof(Section, version) == 4);
static_assert(offsetof(Section, flags) == 6);
static_assert(offsetof(Section, offset) == 8);
static_assert(offsetof(Section, bytes) == 16);
static_assert(offsetof(Section, item_bytes) == 24);
static_assert(offsetof(Section, reserved) == 28);

// The beginning of a header, the same in every version. Root checksums and the header's own hash follow: IndexLayout.
struct IndexHeader {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t header_bytes;
  uint64_t file_bytes;
  uint64_t generation;
  uint64_t entry_count;
  uint32_t shard_count;
  uint32_t block_bytes;  // of records (kBlockBytes), not of the index
  uint32_t section_count;
  uint32_t reserved_52;
  uint64_t file_count;
  uint64_t directory_count;
  uint64_t symlink_count;
  uint64_t image_count;
  uint64_t tree_bytes;
  uint64_t record_bytes;
  std::array<uint8_t, 24> reserved_104;
  std::array<Section, kSectionCountMax> sections;
};
static_assert(sizeof(IndexHeader) == 640);
static_assert(offsetof(IndexHeader, version) == 8);
static_assert(offsetof(IndexHeader, header_bytes) == 12);
static_assert(offsetof(IndexHeader, file_bytes) == 16);
static_assert(offsetof(IndexHeader, generation) == 24);
static_assert(offsetof(IndexHeader, entry_count) == 32);
static_assert(offsetof(IndexHeader, shard_count) == 40);
static_assert(offsetof(IndexHeader, block_bytes) == 44);
static_assert(offsetof(IndexHeader, section_count) == 48);
static_assert(offsetof(IndexHeader, reserved_52) == 52);
static_assert(offsetof(IndexHeader, file_count) == 56);
static_assert(offsetof(IndexHeader, directory_count) == 64);
static_assert(offsetof(IndexHeader, symlink_count) == 72);
static_assert(offsetof(IndexHeader, image_count) == 80);
static_assert(offsetof(IndexHeader, tree_bytes) == 88);
static_assert(offsetof(IndexHeader, record_bytes) == 96);
static_assert(offsetof(IndexHeader, reserved_104) == 104);
static_assert(offsetof(IndexHeader, sections) == 128);
static_assert(std::is_trivially_copyable_v<IndexHeader>);

// Section 5: an item of ENTRIES.
struct Entry {
  uint64_t name_offset;
  uint16_t name_bytes;
  uint16_t reserved_10;
  uint32_t mode;
  int64_t mtime_sec;
  uint32_t mtime_nsec;
  uint32_t shard;
  uint64_t size;
  uint64_t offset;
  Hash hash;
  uint64_t parent;
  uint64_t first_block;
  uint32_t width;
  uint32_t height;
  uint32_t exif_bytes;
  uint8_t image_kind;
  uint8_t channels;
  uint8_t orientation;
  uint8_t bit_depth;
};
static_assert(sizeof(Entry) == 96);
static_assert(offsetof(Entry, name_bytes) == 8);
static_assert(offsetof(Entry, reserved_10) == 10);
static_assert(offsetof(Entry, mode) == 12);
static_assert(offsetof(Entry, mtime_sec) == 16);
static_assert(offsetof(Entry, mtime_nsec) == 24);
static_assert(offsetof(Entry, shard) == 28);
static_assert(offsetof(Entry, size) == 32);
static_assert(offsetof(Entry, offset) == 40);
static_assert(offsetof(Entry, hash) == 48);
static_assert(offsetof(Entry, parent) == 64);
static_assert(offsetof(Entry, first_block) == 72);
static_assert(offsetof(Entry, width) == 80);
static_assert(offsetof(Entry, height) == 84);
static_assert(offsetof(Entry, exif_bytes) == 88);
static_assert(offsetof(Entry, image_kind) == 92);
static_assert(offsetof(Entry, channels) == 93);
static_assert(offsetof(Entry, orientation) == 94);
static_assert(offsetof(Entry, bit_depth) == 95);
static_assert(std::is_trivially_copyable_v<Entry>);

// The same in version 2.
struct DigestedEntry {
  Entry entry;
  Digest digest;
};
static_assert(sizeof(DigestedEntry) == 128);
static_assert(offsetof(DigestedEntry, digest) == 96);

// An item of BLOCKS in version 2; in version 1 it is the hash alone.
struct Block {
  Hash hash;
  Digest digest;
};
static_assert(sizeof(Block) == 48);
static_assert(offsetof(Block, digest) == 16);

// An item of LISTING, the same number as its entry: child i of a folder by name, and place i of that folder's listing.
struct ListingItem {
  uint64_t listed;  // which child the listing has at place i
  uint64_t place;   // at which place the listing has child i
};
static_assert(sizeof(ListingItem) == 16);
static_assert(offsetof(ListingItem, place) == 8);

// What differs between the versions of an index.
struct IndexLayout {
  uint32_t version;
  uint32_t header_bytes;
  uint32_t hash_bytes;   // the last of them: the hash of all bytes before
  uint32_t root_offset;  // of the root checksums, which end where that hash begins
  uint32_t sum_bytes;    // of an item of CHECKSUMS, and of a root checksum
  uint32_t entry_bytes;  // of an item of ENTRIES
  uint32_t block_bytes;  // of an item of BLOCKS

  constexpr uint32_t hash_offset() const { return header_bytes - hash_bytes; }
  constexpr uint64_t root_count() const { return (hash_offset() - root_offset) / sum_bytes; }
  constexpr uint64_t sums_per_root() const { return kBodyBlockBytes / sum_bytes; }
};
inline constexpr IndexLayout kLayout1 = {.version = 1,
                                         .header_bytes = 8192,
                                         .hash_bytes = sizeof(Hash),
                                         .root_offset = 4096,
                                         .sum_bytes = sizeof(uint64_t),
                                         .entry_bytes = sizeof(Entry),
                                         .block_bytes = sizeof(Hash)};
inline constexpr IndexLayout kLayout2 = {.version = 2,
                                         .header_bytes = 65536,
                                         .hash_bytes = sizeof(Digest),
                                         .root_offset = 1024,
                                         .sum_bytes = sizeof(Digest),
                                         .entry_bytes = sizeof(DigestedEntry),
                                         .block_bytes = sizeof(Block)};
static_assert(kLayout1.hash_offset() == 8176 && kLayout1.root_count() == 510 && kLayout1.sums_per_root() == 8192);
static_assert(kLayout2.hash_offset() == 65504 && kLayout2.root_count() == 2015 && kLayout2.sums_per_root() == 2048);
static_assert(kLayout2.header_bytes == kBodyOffset);

// Section 6: an item of SHARDS. On disk, never renumber.
enum class ShardKind : uint16_t { kOwn = 1, kForeign = 2 };
enum class LocatorKind : uint16_t { kRelative = 1, kAbsolute = 2, kAddress = 3 };

struct Shard {
  uint16_t kind;
  uint16_t locator_kind;
  uint32_t locator_bytes;
  uint64_t locator_offset;
  uint64_t file_bytes;
  int64_t token_sec;
  uint32_t token_nsec;
  uint32_t reserved_36;
  uint64_t generation;
  std::array<uint8_t, 16> reserved_48;
};
static_assert(sizeof(Shard) == 64);
static_assert(offsetof(Shard, locator_kind) == 2);
static_assert(offsetof(Shard, locator_bytes) == 4);
static_assert(offsetof(Shard, locator_offset) == 8);
static_assert(offsetof(Shard, file_bytes) == 16);
static_assert(offsetof(Shard, token_sec) == 24);
static_assert(offsetof(Shard, token_nsec) == 32);
static_assert(offsetof(Shard, reserved_36) == 36);
static_assert(offsetof(Shard, generation) == 40);
static_assert(offsetof(Shard, reserved_48) == 48);

inline constexpr std::array<char, 8> kShardMagic = {'A', 'U', 'G', 'U', 'R', 'S', 'H', 'D'};

struct ShardHeader {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t number;
  uint64_t generation;
  uint64_t base_generation;  // 0: the tree starts anew with this generation
  std::array<uint8_t, 24> reserved_32;
  uint64_t sum;  // XXH3-64 of all bytes before it
};
static_assert(sizeof(ShardHeader) == 64);
static_assert(offsetof(ShardHeader, version) == 8);
static_assert(offsetof(ShardHeader, number) == 12);
static_assert(offsetof(ShardHeader, generation) == 16);
static_assert(offsetof(ShardHeader, base_generation) == 24);
static_assert(offsetof(ShardHeader, reserved_32) == 32);
static_assert(offsetof(ShardHeader, sum) == 56);

inline constexpr std::array<char, 8> kTrailerMagic = {'A', 'U', 'G', 'U', 'R', 'C', 'A', 'T'};

struct ShardTrailer {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t number;
  uint64_t generation;
  uint64_t catalogue_offset;
  uint64_t catalogue_bytes;
  uint64_t item_count;
  uint64_t catalogue_sum;  // XXH3-64 of the catalogue
  uint64_t sum;            // XXH3-64 of all bytes of the trailer before it
};
static_assert(sizeof(ShardTrailer) == 64);
static_assert(offsetof(ShardTrailer, version) == 8);
static_assert(offsetof(ShardTrailer, number) == 12);
static_assert(offsetof(ShardTrailer, generation) == 16);
static_assert(offsetof(ShardTrailer, catalogue_offset) == 24);
static_assert(offsetof(ShardTrailer, catalogue_bytes) == 32);
static_assert(offsetof(ShardTrailer, item_count) == 40);
static_assert(offsetof(ShardTrailer, catalogue_sum) == 48);
static_assert(offsetof(ShardTrailer, sum) == 56);

inline constexpr std::array<char, 4> kFrameMagic = {'C', 'F', 'R', 'M'};

struct FrameHeader {
  std::array<char, 4> magic;
  uint32_t payload_bytes;
  uint32_t item_count;
  uint32_t reserved_12;
  uint64_t sum;  // XXH3-64 of the payload
};
static_assert(sizeof(FrameHeader) == 24);
static_assert(offsetof(FrameHeader, payload_bytes) == 4);
static_assert(offsetof(FrameHeader, item_count) == 8);
static_assert(offsetof(FrameHeader, reserved_12) == 12);
static_assert(offsetof(FrameHeader, sum) == 16);

// The fixed part of a catalogue item. In version 1 path, target and a Hash for each block follow; in version 2 the
// Digest of the record, then path, target and a Block for each block. Padded to kItemAlign.
inline constexpr uint32_t kItemAlign = 8;

struct CatalogueItem {
  uint32_t item_bytes;
  uint32_t path_bytes;
  uint32_t target_bytes;
  uint32_t block_count;
  uint32_t mode;
  uint32_t mtime_nsec;
  int64_t mtime_sec;
  uint64_t size;
  uint32_t shard;
  uint32_t reserved_44;
  uint64_t offset;
  Hash hash;
  uint32_t width;
  uint32_t height;
  uint32_t exif_bytes;
  uint8_t image_kind;
  uint8_t channels;
  uint8_t orientation;
  uint8_t bit_depth;
};
static_assert(sizeof(CatalogueItem) == 88);
static_assert(offsetof(CatalogueItem, path_bytes) == 4);
static_assert(offsetof(CatalogueItem, target_bytes) == 8);
static_assert(offsetof(CatalogueItem, block_count) == 12);
static_assert(offsetof(CatalogueItem, mode) == 16);
static_assert(offsetof(CatalogueItem, mtime_nsec) == 20);
static_assert(offsetof(CatalogueItem, mtime_sec) == 24);
static_assert(offsetof(CatalogueItem, size) == 32);
static_assert(offsetof(CatalogueItem, shard) == 40);
static_assert(offsetof(CatalogueItem, reserved_44) == 44);
static_assert(offsetof(CatalogueItem, offset) == 48);
static_assert(offsetof(CatalogueItem, hash) == 56);
static_assert(offsetof(CatalogueItem, width) == 72);
static_assert(offsetof(CatalogueItem, height) == 76);
static_assert(offsetof(CatalogueItem, exif_bytes) == 80);
static_assert(offsetof(CatalogueItem, image_kind) == 84);
static_assert(offsetof(CatalogueItem, channels) == 85);
static_assert(offsetof(CatalogueItem, orientation) == 86);
static_assert(offsetof(CatalogueItem, bit_depth) == 87);

}  // namespace augur::format
