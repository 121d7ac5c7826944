// SPDX-License-Identifier: Apache-2.0
#include "store/record_store.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "augur/store.h"
#include "base/check.h"
#include "base/log.h"
#include "base/regular_file.h"
#include "base/units.h"
#include "store/file_io.h"

namespace augur {
namespace {

constexpr size_t kCompareBytes = 64 * kKiB;

uint64_t Fingerprint(const format::Hash& hash, uint64_t size) {
  return hash.low ^ std::rotl(hash.high, 32) ^ size * 0x9E3779B97F4A7C15;  // any mixing will do: the hash is good
}

bool SameHash(const format::Hash& a, const format::Hash& b) { return a.low == b.low && a.high == b.high; }

}  // namespace

Status RecordStore::ReadStored(uint32_t shard, uint64_t offset, std::span<std::byte> bytes) {
  ShardWriter* current = series_.current();
  if (current != nullptr && current->number() == shard) return current->Read(offset, bytes);
  const ShardInfo& row = shards_[shard];
  if (open_shard_ != shard) {
    open_shard_ = kNoShard;
    AUGUR_TRY_ASSIGN(opened, OpenRegularAt(AT_FDCWD, row.path, O_RDONLY, Links::kFollow, row.path));
    open_fd_ = std::move(opened);
    open_shard_ = shard;
  }
  return ReadAt(open_fd_.get(), row.path, bytes, offset);
}

bool RecordStore::Holds(const SpoolEntry& entry, std::span<const std::byte> bytes) {
  std::array<std::byte, kCompareBytes> stored;
  uint64_t offset = entry.offset;
  while (!bytes.empty()) {
    const auto part = std::span(stored).first(std::min(bytes.size(), stored.size()));
    if (const Status status = ReadStored(entry.shard, offset, part); !status.ok()) {
      // The new copy must not depend on one that cannot be read.
      spdlog::warn("cannot compare with an identical file, so it is stored again: {}", status.text());
      return false;
    }
    if (std::memcmp(part.data(), bytes.data(), part.size()) != 0) return false;
    bytes = bytes.subspan(part.size());
    offset += part.size();
  }
  return true;
}

Result<RecordPlace> RecordStore::Put(std::span<const std::byte> bytes, const RecordHashes& hashes) {
  AUGUR_CHECK(!bytes.empty());
  const format::Hash wanted{hashes.whole.hash.low, hashes.whole.hash.high};
  RecordPlace place;
  table_.Find(Fingerprint(wanted, bytes.size()), [&](uint64_t number) {
    const SpoolEntry& entry = entries_.At(number);
    if (entry.size != bytes.size() || !SameHash(entry.hash, wanted)) return false;
    if (series_.IsAway(entry.shard) ? entry.digest != hashes.whole.digest : !Holds(entry, bytes)) return false;
    place = {entry.shard, entry.offset, entry.first_block, true};
    return true;
  });
  if (place.duplicate) return place;
  AUGUR_TRY(series_.BeginRecord());
  ShardWriter& shard = *series_.current();
  place.shard = shard.number();
  place.offset = shard.end();
  AUGUR_TRY(shard.Append(bytes));
  if (bytes.size() > kBlockBytes) {
    AUGUR_TRY_ASSIGN(first_block, blocks_.Add(hashes.blocks));
    place.first_block = first_block;
  }
  return place;
}

Result<RecordPlace> RecordStore::FinishRecord(uint64_t offset, uint64_t size, uint64_t first_block,
                                              const HashPair& hashes) {
  const format::Hash wanted{hashes.hash.low, hashes.hash.high};
  ShardWriter& shard = *series_.current();
  RecordPlace place{shard.number(), offset, size > kBlockBytes ? first_block : 0, false};
  const auto same_bytes = [&](const SpoolEntry& entry) {
    std::array<std::byte, kCompareBytes> fresh;
    SpoolEntry part_entry = entry;
    for (uint64_t done = 0; done < size;) {
      const auto part = std::span(fresh).first(std::min<uint64_t>(fresh.size(), size - done));
      if (!shard.Read(offset + done, part).ok() || !Holds(part_entry, part)) return false;
      part_entry.offset += part.size();
      done += part.size();
    }
    return true;
  };
  table_.Find(Fingerprint(wanted, size), [&](uint64_t number) {
    const SpoolEntry& entry = entries_.At(number);
    if (entry.size != size || !SameHash(entry.hash, wanted)) return false;
    if (series_.IsAway(entry.shard) ? entry.digest != hashes.digest : !same_bytes(entry)) return false;
    place = {entry.shard, entry.offset, entry.first_block, true};
    return true;
  });
  if (place.duplicate) {
    AUGUR_TRY(shard.Rewind(offset));
    blocks_.Truncate(first_block);
  }
  return place;
}

const SpoolEntry* RecordStore::AtPlace(const format::Hash& hash, uint64_t size, uint32_t shard, uint64_t offset) const {
  const SpoolEntry* found = nullptr;
  table_.Find(Fingerprint(hash, size), [&](uint64_t number) {
    const SpoolEntry& entry = entries_.At(number);
    if (entry.shard != shard || entry.offset != offset || entry.size != size || !SameHash(entry.hash, hash)) {
      return false;
    }
    found = &entry;
    return true;
  });
  return found;
}

Result<bool> RecordStore::Remember(uint64_t entry_number) {
  const SpoolEntry& entry = entries_.At(entry_number);
  if (AtPlace(entry.hash, entry.size, entry.shard, entry.offset) != nullptr) return true;
  AUGUR_TRY(table_.Insert(Fingerprint(entry.hash, entry.size), entry_number));
  return false;
}

}  // namespace augur
