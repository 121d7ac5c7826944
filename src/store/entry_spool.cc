// SPDX-License-Identifier: Apache-2.0
#include "store/entry_spool.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/page.h"

namespace augur {
namespace {

constexpr uint64_t kAlign = 8;

}  // namespace

Result<EntrySpool> EntrySpool::Create(const WriteFolder& folder) {
  AUGUR_TRY_ASSIGN(file, MappedFile::CreateUnlinked(folder, kEntrySpoolName));
  return EntrySpool(std::move(file));
}

Result<uint64_t> EntrySpool::Add(const SpoolEntry& entry, std::string_view path, std::string_view target) {
  const uint64_t number = end_;
  const uint64_t end = number + sizeof(SpoolEntry) + RoundUp(path.size() + target.size(), kAlign);
  AUGUR_TRY(file_.Grow(end));
  std::byte* at = file_.data() + number;
  auto* spooled = new (at) SpoolEntry(entry);
  spooled->path_bytes = static_cast<uint32_t>(path.size());
  spooled->target_bytes = static_cast<uint32_t>(target.size());
  char* text = reinterpret_cast<char*>(at) + sizeof(SpoolEntry);
  std::replace_copy(path.begin(), path.end(), text, '/', '\0');
  std::copy(target.begin(), target.end(), text + path.size());
  end_ = end;
  ++count_;
  LimitResidency(number);
  return number;
}

uint64_t EntrySpool::Next(uint64_t number) const {
  const SpoolEntry& entry = At(number);
  return number + sizeof(SpoolEntry) + RoundUp(uint64_t{entry.path_bytes} + entry.target_bytes, kAlign);
}

Result<BlockSpool> BlockSpool::Create(const WriteFolder& folder) {
  AUGUR_TRY_ASSIGN(file, MappedFile::CreateUnlinked(folder, kBlockSpoolName));
  return BlockSpool(std::move(file));
}

Result<uint64_t> BlockSpool::Add(std::span<const HashPair> blocks) {
  static_assert(sizeof(HashPair) == sizeof(format::Block) && offsetof(HashPair, digest) == 16 &&
                offsetof(Hash128, high) == offsetof(format::Hash, high));
  const uint64_t first = count_;
  if (blocks.empty()) return first;
  AUGUR_TRY(file_.Grow((first + blocks.size()) * sizeof(format::Block)));
  std::memcpy(file_.data() + first * sizeof(format::Block), blocks.data(), blocks.size_bytes());
  count_ += blocks.size();
  return first;
}

}  // namespace augur
