// SPDX-License-Identifier: Apache-2.0
#include "store/shard_table.h"

#include <algorithm>
#include <string_view>

#include "store/shard_address.h"

namespace augur {
namespace {

using format::LocatorKind;
using format::ShardKind;

// What can be told without the locator's bytes; nullptr when all is well.
const char* RowDefect(const format::Shard& row, uint64_t generation) {
  const bool own = row.kind == static_cast<uint16_t>(ShardKind::kOwn);
  const bool relative = row.locator_kind == static_cast<uint16_t>(LocatorKind::kRelative);
  if (!own && row.kind != static_cast<uint16_t>(ShardKind::kForeign)) return "an unknown kind";
  if (row.locator_kind < static_cast<uint16_t>(LocatorKind::kRelative) ||
      row.locator_kind > static_cast<uint16_t>(LocatorKind::kAddress)) {
    return "an unknown locator kind";
  }
  if (own && !relative) return "an own shard with an absolute path or an address";
  if (row.locator_bytes == 0) return "no locator";
  if (row.locator_bytes > format::kPathBytesMax) return "a locator over 4,095 bytes";
  if (row.file_bytes > format::kFileBytesMax) return "file bytes over 2^63 - 1";
  if (row.token_nsec > format::kNanosecondsMax) return "nanoseconds over 999,999,999";
  if (own && (row.token_sec != 0 || row.token_nsec != 0)) return "an own shard with a token";
  if (row.reserved_36 != 0) return "reserved field is not zero";
  if (!std::all_of(row.reserved_48.begin(), row.reserved_48.end(), [](uint8_t b) { return b == 0; })) {
    return "reserved field is not zero";
  }
  if (row.generation == 0) return "generation 0";
  return row.generation > generation ? "a generation above the index's" : nullptr;
}

const char* LocatorDefect(std::string_view locator, bool own, LocatorKind kind) {
  if (locator.find('\0') != std::string_view::npos) return "a NUL in the locator";
  if (kind == LocatorKind::kAddress) return AddressDefect(locator);
  const bool absolute = kind == LocatorKind::kAbsolute;
  if (own && locator.find('/') != std::string_view::npos) return "a '/' in the locator of an own shard";
  if (absolute == locator.starts_with('/')) return nullptr;
  return absolute ? "an absolute locator that does not begin with '/'" : "a relative locator that begins with '/'";
}

}  // namespace

Result<ShardInfo> LoadShard(const IndexReader& index, const std::string& folder, uint32_t number) {
  const auto corrupt = [&](const char* defect) {
    return Status(Code::kCorrupt, index.name() + ": shard " + std::to_string(number) + ": " + defect);
  };
  format::Shard row;
  AUGUR_TRY(index.Load(format::SectionId::kShards, number, &row));
  if (const char* defect = RowDefect(row, index.header().fields().generation)) return corrupt(defect);
  if (!index.HasText(row.locator_offset, row.locator_bytes)) return corrupt("the locator leaves NAMES");
  std::string_view locator;
  AUGUR_TRY(index.LoadText(row.locator_offset, row.locator_bytes, &locator));
  const bool own = row.kind == static_cast<uint16_t>(ShardKind::kOwn);
  const auto kind = static_cast<LocatorKind>(row.locator_kind);
  if (const char* defect = LocatorDefect(locator, own, kind)) return corrupt(defect);
  const bool relative = kind == LocatorKind::kRelative;
  return ShardInfo{.number = number,
                   .foreign = !own,
                   .absolute = kind == LocatorKind::kAbsolute,
                   .address = kind == LocatorKind::kAddress,
                   .locator = std::string(locator),
                   .path = relative ? folder + "/" + std::string(locator) : std::string(locator),
                   .bytes = row.file_bytes,
                   .token_sec = row.token_sec,
                   .token_nsec = row.token_nsec,
                   .generation = row.generation};
}

}  // namespace augur
