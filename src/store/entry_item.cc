// SPDX-License-Identifier: Apache-2.0
#include "store/entry_item.h"

#include "augur/store.h"
#include "base/check.h"

namespace augur {
namespace {

// T has the image fields of FORMAT.md section 5, bytes 80 to 95.
template <typename T>
void SetImage(const ImageInfo& image, T& item) {
  item.width = image.width;
  item.height = image.height;
  item.exif_bytes = image.exif_bytes;
  item.image_kind = static_cast<uint8_t>(image.kind);
  item.channels = image.channels;
  item.orientation = image.orientation;
  item.bit_depth = image.bit_depth;
}

}  // namespace

uint32_t FullMode(const SpoolEntry& entry) {
  switch (entry.kind) {
    case SpoolKind::kDirectory: return entry.mode | format::kTypeDirectory;
    case SpoolKind::kFile: return entry.mode | format::kTypeFile;
    case SpoolKind::kSymlink: return entry.mode | format::kTypeSymlink;
    case SpoolKind::kHardLink: break;
  }
  AUGUR_CHECK(false);
}

uint64_t BlockHashCount(uint64_t size) { return size <= kBlockBytes ? 0 : (size - 1) / kBlockBytes + 1; }

format::CatalogueItem CatalogueItemOf(const SpoolEntry& entry) {
  format::CatalogueItem item{};
  item.mode = FullMode(entry);
  item.mtime_nsec = entry.mtime_nsec;
  item.mtime_sec = entry.mtime_sec;
  item.shard = kNoShard;
  if (entry.kind != SpoolKind::kFile) return item;
  item.size = entry.size;
  if (entry.size > 0) item.shard = entry.shard;
  item.offset = entry.offset;
  item.hash = entry.hash;
  SetImage(entry.image, item);
  return item;
}

format::DigestedEntry IndexEntryOf(const SpoolEntry& entry) {
  format::DigestedEntry digested{};
  format::Entry& item = digested.entry;
  item.mode = FullMode(entry);
  item.mtime_sec = entry.mtime_sec;
  item.mtime_nsec = entry.mtime_nsec;
  if (entry.kind != SpoolKind::kFile) return digested;
  item.shard = entry.size > 0 ? entry.shard : kNoShard;
  item.size = entry.size;
  item.offset = entry.offset;
  item.hash = entry.hash;
  item.first_block = entry.size > kBlockBytes ? entry.first_block : 0;
  SetImage(entry.image, item);
  digested.digest = entry.digest;
  return digested;
}

}  // namespace augur
