// SPDX-License-Identifier: Apache-2.0
#include "store/index_header.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "augur/store.h"
#include "base/check.h"
#include "store/hash.h"
#include "store/sha256.h"

namespace augur {
namespace {

using format::IndexHeader;
using format::Section;
using format::SectionId;

// By id, from 1.
constexpr std::array<const char*, 6> kSectionNames = {"ENTRIES", "NAMES", "SHARDS", "BLOCKS", "CHECKSUMS", "LISTING"};
constexpr size_t kNeededSections = 5;  // the first of them

// Whether FORMAT.md gives this id a meaning in an index of this layout.
bool IsKnownSection(const format::IndexLayout& layout, uint32_t id) {
  return id <= kNeededSections || (id <= kSectionNames.size() && layout.version > 1);
}

uint32_t ItemBytes(const format::IndexLayout& layout, SectionId id) {
  switch (id) {
    case SectionId::kEntries: return layout.entry_bytes;
    case SectionId::kNames: return 1;
    case SectionId::kShards: return sizeof(format::Shard);
    case SectionId::kBlocks: return layout.block_bytes;
    case SectionId::kChecksums: return layout.sum_bytes;
    case SectionId::kListing: return sizeof(format::ListingItem);
  }
  AUGUR_CHECK(false);
}

Status Corrupt(std::string text) { return {Code::kCorrupt, "header: " + std::move(text)}; }
Status Newer(std::string text) { return {Code::kUnsupported, std::move(text) + ": use a newer AugurFS"}; }

bool AllZeroBytes(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

template <typename T>
bool AllZero(const T& object) {
  return AllZeroBytes(std::as_bytes(std::span(&object, 1)));
}

// Everything about one item of the table but its neighbours.
Status CheckSection(const format::IndexLayout& layout, const Section& section, uint64_t file_bytes) {
  const std::string name = "section " + std::to_string(section.id);
  if (section.id == 0) return Corrupt("a section with id 0");
  if ((section.flags & ~format::kSectionMustUnderstand) != 0) return Corrupt(name + ": a reserved flag is set");
  if (section.reserved != 0) return Corrupt(name + ": reserved field is not zero");
  const bool known = IsKnownSection(layout, section.id);
  if (!known && (section.flags & format::kSectionMustUnderstand) != 0) {
    return Newer("header: " + name + " must be understood, and is not known");
  }
  if (section.offset % format::kSectionAlign != 0) return Corrupt(name + ": offset is not a multiple of 64");
  if (section.offset < format::kBodyOffset) return Corrupt(name + ": offset is in the header");
  if (section.offset > file_bytes) return Corrupt(name + ": offset is past the file");
  if (section.bytes > file_bytes - section.offset) return Corrupt(name + ": leaves the file");
  if (known) {
    const uint32_t expected = ItemBytes(layout, static_cast<SectionId>(section.id));
    const std::string known_name = std::string("section ") + kSectionNames[section.id - 1];
    if (section.version != format::kSectionVersion) {
      return Newer("header: " + known_name + " has version " + std::to_string(section.version));
    }
    if (section.item_bytes != expected) {
      return Corrupt(known_name + ": item bytes " + std::to_string(section.item_bytes) + " instead of " +
                     std::to_string(expected));
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

Status CheckChecksums(const CheckedHeader& header, const Section& sums, std::span<const Section> sections) {
  const format::IndexLayout& layout = header.layout();
  if (sums.offset % format::kBodyBlockBytes != 0) return Corrupt("CHECKSUMS does not begin at a multiple of 65536");
  if (sums.offset + sums.bytes != header.fields().file_bytes) return Corrupt("CHECKSUMS does not end with the file");
  for (const Section& section : sections) {
    if (section.id != sums.id && section.offset > sums.offset) return Corrupt("CHECKSUMS is not the last section");
  }
  const uint64_t blocks = (sums.offset - format::kBodyOffset) / format::kBodyBlockBytes;
  if (sums.bytes / layout.sum_bytes != blocks) return Corrupt("CHECKSUMS has not one item for each block of the body");
  const uint64_t roots = (blocks + layout.sums_per_root() - 1) / layout.sums_per_root();
  if (roots > layout.root_count()) return Corrupt("CHECKSUMS has more items than the root checksums cover");
  for (uint64_t i = roots; i < layout.root_count(); ++i) {
    if (!AllZeroBytes(header.Root(i))) return Corrupt("an unused root checksum is not zero");
  }
  return Status::Ok();
}

}  // namespace

Result<CheckedHeader> CheckedHeader::Take(std::span<const std::byte> block) {
  AUGUR_CHECK(block.size() == format::kBodyOffset);
  CheckedHeader header;
  std::memcpy(&header.fields_, block.data(), sizeof(header.fields_));
  const format::IndexHeader& fields = header.fields_;
  if (fields.magic != format::kIndexMagic) return Corrupt("wrong magic: not an index of AugurFS");
  if (!format::IsKnownVersion(fields.version)) {
    return Newer("header: index version " + std::to_string(fields.version) + ", this program reads versions 1 and 2");
  }
  header.layout_ = fields.version == 1 ? &format::kLayout1 : &format::kLayout2;
  const format::IndexLayout& layout = *header.layout_;
  if (fields.header_bytes != layout.header_bytes) {
    return Corrupt("header bytes are not " + std::to_string(layout.header_bytes));
  }
  const auto bytes = block.first(layout.header_bytes);
  const auto hashed = bytes.first(layout.hash_offset());
  const auto hash = bytes.subspan(layout.hash_offset());
  const Hash128 fast = fields.version == 1 ? HashBytes128(hashed) : Hash128{};
  const Digest slow = fields.version == 1 ? Digest{} : Sha256(hashed);
  const auto expected = fields.version == 1 ? std::as_bytes(std::span(&fast, 1)) : std::span(slow.bytes);
  if (!std::ranges::equal(hash, expected)) return Corrupt("checksum mismatch");
  header.bytes_.assign(bytes.begin(), bytes.end());
  return header;
}

std::string CheckedHeader::IdText() const {
  const std::optional<Digest> root = RootHash();
  return root ? HexOf(*root) : HexOf(Id());
}

Hash128 CheckedHeader::Id() const {
  if (layout_->version == 1) return HashBytes128(bytes_);  // of the whole header, its own checksum included
  Hash128 id;
  std::memcpy(&id, bytes_.data() + layout_->hash_offset(), sizeof(id));
  return id;
}

std::optional<Digest> CheckedHeader::RootHash() const {
  if (layout_->version == 1) return std::nullopt;
  Digest root;
  std::memcpy(&root, bytes_.data() + layout_->hash_offset(), sizeof(root));
  return root;
}

bool IsSumOf(const format::IndexLayout& layout, std::span<const std::byte> bytes, std::span<const std::byte> sum) {
  if (layout.version == 1) {
    const uint64_t hash = HashBytes64(bytes);
    return std::ranges::equal(sum, std::as_bytes(std::span(&hash, 1)));
  }
  return std::ranges::equal(sum, Sha256(bytes).bytes);
}

Result<SectionTable> CheckedHeader::CheckSections(uint64_t file_bytes, uint64_t generation) const {
  const IndexHeader& header = fields_;
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
  const auto reserved_640 = std::span(bytes_).first(layout_->root_offset).subspan(sizeof(IndexHeader));
  if (header.reserved_52 != 0 || !AllZero(header.reserved_104) || !AllZeroBytes(reserved_640)) {
    return Corrupt("reserved field is not zero");
  }

  const std::span<const Section> sections = std::span(header.sections).first(header.section_count);
  for (const Section& section : std::span(header.sections).subspan(header.section_count)) {
    if (!AllZero(section)) return Corrupt("an unused section item is not zero");
  }
  SectionTable table;
  for (size_t i = 0; i < sections.size(); ++i) {
    AUGUR_TRY(CheckSection(*layout_, sections[i], file_bytes));
    const std::string name = "section " + std::to_string(sections[i].id);
    for (const Section& before : sections.first(i)) {
      if (before.id == sections[i].id) return Corrupt(name + " stands twice");
      if (Overlap(before, sections[i])) return Corrupt(name + " overlaps section " + std::to_string(before.id));
    }
    if (!IsKnownSection(*layout_, sections[i].id)) continue;
    table.Set(sections[i]);
  }
  for (size_t i = 0; i < kNeededSections; ++i) {
    if (!table.Has(static_cast<SectionId>(i + 1))) return Corrupt(std::string(kSectionNames[i]) + " is missing");
  }
  AUGUR_TRY(CheckChecksums(*this, table[SectionId::kChecksums], sections));
  if (header.entry_count != table[SectionId::kEntries].bytes / layout_->entry_bytes) {
    return Corrupt("entry count is not that of ENTRIES");
  }
  if (header.shard_count != table[SectionId::kShards].bytes / sizeof(format::Shard)) {
    return Corrupt("shard count is not that of SHARDS");
  }
  if (table.Has(SectionId::kListing) &&
      header.entry_count != table[SectionId::kListing].bytes / sizeof(format::ListingItem)) {
    return Corrupt("LISTING has not one item for each entry");
  }
  return table;
}

}  // namespace augur
