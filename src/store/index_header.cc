// SPDX-License-Identifier: Apache-2.0
#include "store/index_header.h"

#include <algorithm>
#include <bitset>
#include <span>
#include <string>

#include "augur/store.h"
#include "store/hash.h"

namespace augur {
namespace {

using format::IndexHeader;
using format::Section;
using format::SectionId;

struct KnownSection {
  SectionId id;
  const char* name;
  uint32_t item_bytes;
};
constexpr std::array<KnownSection, 5> kKnownSections = {{
    {SectionId::kEntries, "ENTRIES", sizeof(format::Entry)},
    {SectionId::kNames, "NAMES", 1},
    {SectionId::kShards, "SHARDS", sizeof(format::Shard)},
    {SectionId::kBlocks, "BLOCKS", sizeof(format::Hash)},
    {SectionId::kChecksums, "CHECKSUMS", sizeof(uint64_t)},
}};

Status Corrupt(std::string text) { return {Code::kCorrupt, "header: " + std::move(text)}; }
Status Newer(std::string text) { return {Code::kUnsupported, std::move(text) + ": use a newer AugurFS"}; }

bool AllZero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

template <typename T>
bool AllZero(const T& object) {
  return AllZero(std::as_bytes(std::span(&object, 1)));
}

// Everything about one item of the table but its neighbours.
Status CheckSection(const Section& section, uint64_t file_bytes) {
  const std::string name = "section " + std::to_string(section.id);
  if (section.id == 0) return Corrupt("a section with id 0");
  if ((section.flags & ~format::kSectionMustUnderstand) != 0) return Corrupt(name + ": a reserved flag is set");
  if (section.reserved != 0) return Corrupt(name + ": reserved field is not zero");
  const bool known = section.id <= kKnownSections.size();
  if (!known && (section.flags & format::kSectionMustUnderstand) != 0) {
    return Newer("header: " + name + " must be understood, and is not known");
  }
  if (section.offset % format::kSectionAlign != 0) return Corrupt(name + ": offset is not a multiple of 64");
  if (section.offset < format::kBodyOffset) return Corrupt(name + ": offset is in the header");
  if (section.offset > file_bytes) return Corrupt(name + ": offset is past the file");
  if (section.bytes > file_bytes - section.offset) return Corrupt(name + ": leaves the file");
  if (known) {
    const KnownSection& expected = kKnownSections[section.id - 1];
    const std::string known_name = std::string("section ") + expected.name;
    if (section.version != format::kSectionVersion) {
      return Newer("header: " + known_name + " has version " + std::to_string(section.version));
    }
    if (section.item_bytes != expected.item_bytes) {
      return Corrupt(known_name + ": item bytes " + std::to_string(section.item_bytes) + " instead of " +
                     std::to_string(expected.item_bytes));
    }
  }
  if (section.item_bytes == 0) return Corrupt(name + ": item bytes 0");
  if (section.bytes % section.item_bytes != 0) {
    return Corrupt(name + ": its bytes are not a multiple of its item bytes");
  }
  return Status::Ok();
}

// REQUIRES: CheckSection was OK for both, so that no sum overflows.
bool Overlap(const Section& a, const Section& b) {
  if (a.bytes == 0 || b.bytes == 0) return false;
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

Status CheckChecksums(const IndexHeader& header, const Section& sums, std::span<const Section> sections) {
  if (sums.offset % format::kBodyBlockBytes != 0) return Corrupt("CHECKSUMS does not begin at a multiple of 65536");
  if (sums.offset + sums.bytes != header.file_bytes) return Corrupt("CHECKSUMS does not end with the file");
  for (const Section& section : sections) {
    if (section.id != sums.id && section.offset > sums.offset) return Corrupt("CHECKSUMS is not the last section");
  }
  const uint64_t blocks = (sums.offset - format::kBodyOffset) / format::kBodyBlockBytes;
  if (sums.bytes / sizeof(uint64_t) != blocks) return Corrupt("CHECKSUMS has not one item for each block of the body");
  const uint64_t roots = (blocks + format::kSumsPerRoot - 1) / format::kSumsPerRoot;
  if (roots > format::kRootCount) return Corrupt("CHECKSUMS has more items than the root checksums cover");
  for (size_t i = roots; i < format::kRootCount; ++i) {
    if (header.roots[i] != 0) return Corrupt("an unused root checksum is not zero");
  }
  return Status::Ok();
}

}  // namespace

Status CheckHeaderHash(const IndexHeader& header) {
  if (header.magic != format::kIndexMagic) return Corrupt("wrong magic: not an index of AugurFS");
  if (header.version != format::kVersion) {
    return Newer("header: index version " + std::to_string(header.version) + ", this program reads version 1");
  }
  if (header.header_bytes != format::kHeaderBytes) return Corrupt("header bytes are not 8192");
  const Hash128 hash = HashBytes128(std::as_bytes(std::span(&header, 1)).first(offsetof(IndexHeader, hash)));
  if (hash != Hash128{.low = header.hash.low, .high = header.hash.high}) return Corrupt("checksum mismatch");
  return Status::Ok();
}

Result<SectionTable> CheckHeader(const IndexHeader& header, uint64_t file_bytes, uint64_t generation) {
  if (header.file_bytes != file_bytes) {
    return Corrupt("file bytes " + std::to_string(header.file_bytes) + ", the file has " + std::to_string(file_bytes));
  }
  if (header.generation != generation) {
    return Corrupt("generation " + std::to_string(header.generation) + " instead of " + std::to_string(generation));
  }
  if (header.entry_count == 0) return Corrupt("entry count 0");
  if (header.entry_count > format::kEntryCountMax) return Corrupt("entry count over 2^40 - 2");
  if (header.block_bytes != kBlockBytes) return Corrupt("block bytes are not 1048576");
  if (header.section_count < format::kSectionCountMin || header.section_count > format::kSectionCountMax) {
    return Corrupt("section count " + std::to_string(header.section_count) + " is not from 5 to 16");
  }
  if (header.reserved_52 != 0 || !AllZero(header.reserved_104) || !AllZero(header.reserved_640)) {
    return Corrupt("reserved field is not zero");
  }

  const std::span<const Section> sections = std::span(header.sections).first(header.section_count);
  for (const Section& section : std::span(header.sections).subspan(header.section_count)) {
    if (!AllZero(section)) return Corrupt("an unused section item is not zero");
  }
  SectionTable table;
  std::bitset<kKnownSections.size()> seen;
  for (size_t i = 0; i < sections.size(); ++i) {
    AUGUR_TRY(CheckSection(sections[i], file_bytes));
    const std::string name = "section " + std::to_string(sections[i].id);
    for (const Section& before : sections.first(i)) {
      if (before.id == sections[i].id) return Corrupt(name + " stands twice");
      if (Overlap(before, sections[i])) return Corrupt(name + " overlaps section " + std::to_string(before.id));
    }
    if (sections[i].id > kKnownSections.size()) continue;
    table.Set(sections[i]);
    seen.set(sections[i].id - 1);
  }
  for (const KnownSection& known : kKnownSections) {
    if (!seen.test(static_cast<size_t>(known.id) - 1)) return Corrupt(std::string(known.name) + " is missing");
  }
  AUGUR_TRY(CheckChecksums(header, table[SectionId::kChecksums], sections));
  if (header.entry_count != table[SectionId::kEntries].bytes / sizeof(format::Entry)) {
    return Corrupt("entry count is not that of ENTRIES");
  }
  if (header.shard_count != table[SectionId::kShards].bytes / sizeof(format::Shard)) {
    return Corrupt("shard count is not that of SHARDS");
  }
  return table;
}

}  // namespace augur
