// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// What lies where in a segment of the disk cache; DISK_CACHE.md explains it. In native byte order: the folder is of one
// machine. Whoever changes a structure raises kDiskCacheVersion; segments of another version are left alone.
namespace augur {

inline constexpr std::array<char, 8> kDiskCacheMagic = {'A', 'U', 'G', 'R', 'D', 'E', 'C', 'O'};
inline constexpr uint32_t kDiskCacheVersion = 1;

// Bytes of a block, as in the store (kBlockBytes). Files are kept, and checked, in blocks; the last one is shorter.
inline constexpr uint64_t kDiskCacheBlockBytes = 1 << 20;
// Each file begins at a multiple: what O_DIRECT needs at most on every usual disk (kAlignMax).
inline constexpr uint64_t kDiskCachePageBytes = 4096;
// Of one file. 40 megapixels as three floats are 458 MiB.
inline constexpr uint64_t kDiskCacheFileBytesMax = uint64_t{1} << 30;

// The first page of a segment. After it comes the log, log_bytes long, then the files.
struct DiskCacheHeader {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t reserved;   // zero
  uint64_t id;         // random; also in the name, and in the checksum of each log entry
  uint64_t log_bytes;  // room of the log, a multiple of the page
  uint64_t sum;        // XXH3-64 of the fields above
};
static_assert(sizeof(DiskCacheHeader) == 40 && offsetof(DiskCacheHeader, sum) == 32);
inline constexpr uint64_t kDiskCacheHeaderBytes = kDiskCachePageBytes;

// Kinds of log entries. On disk, never renumber. 0 is a slot not used yet: all of its bytes are 0.
inline constexpr uint32_t kDiskCacheFileEntry = 1;
inline constexpr uint32_t kDiskCacheMoreEntry = 2;  // more sums of the file in the slots before it
inline constexpr uint32_t kDiskCacheDeadEntry = 3;  // was a file whose bytes were wrong

// A slot of the log. `sum` is XXH3-64 of the bytes above it, with the segment's id as seed: an entry that comes from
// elsewhere is not one of this segment.
struct DiskCacheLogSlot {
  std::array<uint64_t, 6> words;  // file: hash low, hash high, size, 3 block sums; more: hash low, 5 block sums
  uint32_t number;                // file: its first page, counted from the start of the segment; more: its first block
  uint32_t kind;
  uint64_t sum;
};
static_assert(sizeof(DiskCacheLogSlot) == 64 && offsetof(DiskCacheLogSlot, sum) == 56);
inline constexpr uint64_t kDiskCacheSumsInFile = 3;
inline constexpr uint64_t kDiskCacheSumsInMore = 5;

// Bytes that are locked in a segment (F_OFD_SETLK).
inline constexpr int64_t kDiskCacheWriterByte = 0;  // for writing by who appends to it
inline constexpr int64_t kDiskCacheUserByte = 1;    // for reading by who reads from it in these days

constexpr uint64_t DiskCachePages(uint64_t bytes) { return (bytes + kDiskCachePageBytes - 1) / kDiskCachePageBytes; }

// `bytes` in whole pages.
constexpr uint64_t UpToDiskCachePage(uint64_t bytes) { return DiskCachePages(bytes) * kDiskCachePageBytes; }
constexpr uint64_t DiskCacheBlocks(uint64_t file_bytes) {
  return (file_bytes + kDiskCacheBlockBytes - 1) / kDiskCacheBlockBytes;
}
// Slots that a file of `blocks` blocks takes: never more than it has pages.
constexpr uint64_t DiskCacheSlots(uint64_t blocks) {
  return blocks <= kDiskCacheSumsInFile
             ? 1
             : 1 + (blocks - kDiskCacheSumsInFile + kDiskCacheSumsInMore - 1) / kDiskCacheSumsInMore;
}
// Room of the log in a segment of `segment_bytes`: one slot for each page, so that it is never full before the segment.
// That is 1.6 % of the size; its unused part is a hole and takes no disk.
constexpr uint64_t DiskCacheLogBytes(uint64_t segment_bytes) {
  return UpToDiskCachePage(DiskCachePages(segment_bytes) * sizeof(DiskCacheLogSlot));
}

}  // namespace augur
