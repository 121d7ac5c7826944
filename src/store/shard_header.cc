// SPDX-License-Identifier: Apache-2.0
#include "store/shard_header.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "store/format.h"
#include "store/hash.h"
#include "store/shard_rights.h"

namespace augur {
namespace {

Status CheckOwnHeader(const StoredFile& file, const ShardInfo& info) {
  const auto corrupt = [&](const char* defect) {
    return Status(Code::kCorrupt, file.path() + ": shard header: " + defect + ": " + ShardCure(info));
  };
  format::ShardHeader header;
  if (file.bytes() < sizeof(header)) return corrupt("the file is shorter than it");
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&header, 1));
  AUGUR_TRY(file.ReadAt(bytes, 0));
  if (header.magic != format::kShardMagic) return corrupt("wrong magic");
  if (!format::IsKnownVersion(header.version)) {
    return {Code::kUnsupported, file.path() + ": shard header: version " + std::to_string(header.version) +
                                    ", this program reads versions 1 and 2: use a newer AugurFS"};
  }
  if (header.sum != HashBytes64(bytes.first(offsetof(format::ShardHeader, sum)))) return corrupt("checksum mismatch");
  if (header.generation != info.generation) return corrupt("its generation is not the one in the shard table");
  if (header.number != info.number) return corrupt("its shard number is not the one in the shard table");
  if (header.base_generation >= header.generation) return corrupt("its base generation is not below its own");
  const auto is_zero = [](uint8_t b) { return b == 0; };
  if (!std::all_of(header.reserved_32.begin(), header.reserved_32.end(), is_zero)) {
    return corrupt("reserved field is not zero");
  }
  return Status::Ok();
}

}  // namespace

Status CheckShard(const StoredFile& file, const ShardInfo& info) {
  if (file.bytes() != info.bytes) {
    return {Code::kCorrupt, file.path() + ": the shard has " + std::to_string(file.bytes()) +
                                " bytes, the index says " + std::to_string(info.bytes) + ": " + ShardCure(info)};
  }
  return info.foreign ? Status::Ok() : CheckOwnHeader(file, info);
}

}  // namespace augur
