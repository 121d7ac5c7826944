// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "store/format.h"

// The rules of FORMAT.md section 5 as pure functions: each returns nullptr, or the defect in words. They allocate
// nothing, because they run each time that an entry is used.
namespace augur {

// What an entry may refer to.
struct EntryLimits {
  uint64_t entry_count = 0;
  uint64_t names_bytes = 0;
  uint64_t block_count = 0;  // items of BLOCKS
  uint32_t shard_count = 0;
};

// Every rule that needs the entry alone. Not: its name's and target's bytes, its parent's type, its neighbours, and the
// extent of its shard.
const char* EntryDefect(uint64_t number, const format::Entry& entry, const EntryLimits& limits);

// The digest of an entry that EntryDefect finds good.
const char* DigestDefect(const format::Entry& entry, const Digest& digest);

// The bytes of the name of an entry that is not the root.
const char* NameDefect(std::string_view name);

// The bytes of a link target; its length is EntryDefect's.
const char* TargetDefect(std::string_view target);

// The image fields by themselves. T has those of format::Entry: an entry, or an item of a catalogue.
template <typename T>
const char* ImageDefect(const T& image);
extern template const char* ImageDefect(const format::Entry& image);
extern template const char* ImageDefect(const format::CatalogueItem& image);

// Whether `size` bytes at `offset` lie in the shard and, in an own shard, behind its header.
const char* ExtentDefect(uint64_t offset, uint64_t size, const format::Shard& shard);

}  // namespace augur
