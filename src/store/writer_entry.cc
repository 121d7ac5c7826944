// SPDX-License-Identifier: Apache-2.0
#include "store/writer_entry.h"

#include <string>

#include "base/units.h"
#include "store/entry_check.h"
#include "store/entry_item.h"
#include "store/sha256.h"

namespace augur {

const HashPair& EmptyHashes() {
  static const HashPair hashes = HashRecord({}).whole;
  return hashes;
}

SpoolEntry EntryOf(SpoolKind kind, const Attributes& attributes) {
  return {.kind = kind,
          .mode = attributes.mode & format::kPermissionMask,
          .mtime_sec = attributes.mtime_sec,
          .mtime_nsec = attributes.mtime_nsec,
          .place = attributes.place};
}

SpoolEntry FileOf(const Attributes& attributes, const ImageInfo& image, uint64_t size, const HashPair& hashes) {
  SpoolEntry entry = EntryOf(SpoolKind::kFile, attributes);
  entry.size = size;
  entry.hash = {hashes.hash.low, hashes.hash.high};
  entry.digest = hashes.digest;
  entry.image = image;
  return entry;
}

Status BadInput(std::string_view path, std::string_view defect) {
  return {Code::kInvalid, "'" + Printable(path) + "': " + std::string(defect)};
}

Status CheckInput(std::string_view path, const SpoolEntry& entry) {
  if (entry.mtime_nsec > format::kNanosecondsMax) return BadInput(path, "nanoseconds over 999,999,999");
  if (entry.kind != SpoolKind::kFile) return Status::Ok();
  if (const char* defect = ImageDefect(IndexEntryOf(entry).entry)) return BadInput(path, defect);
  return Status::Ok();
}

}  // namespace augur
