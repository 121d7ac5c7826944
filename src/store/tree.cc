// SPDX-License-Identifier: Apache-2.0
#include "store/tree.h"

#include <algorithm>
#include <array>

#include "augur/store.h"
#include "base/check.h"
#include "base/units.h"

namespace augur {
namespace {

using format::SectionId;

// The beginning of format::Entry, all that a binary search needs of one.
struct NamePlace {
  uint64_t offset;
  uint16_t bytes;
  std::array<uint8_t, 6> rest;
};
static_assert(sizeof(NamePlace) == 16 && offsetof(NamePlace, bytes) == offsetof(format::Entry, name_bytes));

EntryType TypeOf(uint32_t mode) {
  switch (mode & format::kTypeMask) {
    case format::kTypeDirectory: return EntryType::kDirectory;
    case format::kTypeSymlink: return EntryType::kSymlink;
    default: return EntryType::kFile;
  }
}

// Short enough for a string that allocates nothing: negative lookups are frequent.
Status NotThere() { return {Code::kNotFound, "not found"}; }

}  // namespace

Tree::Tree(const IndexReader* index)
    : index_(index),
      limits_{.entry_count = index->ItemCount(SectionId::kEntries),
              .names_bytes = index->ItemCount(SectionId::kNames),
              .block_count = index->ItemCount(SectionId::kBlocks),
              .shard_count = static_cast<uint32_t>(index->ItemCount(SectionId::kShards))} {}

Status Tree::Defect(uint64_t number, const char* defect) const {
  return {Code::kCorrupt, index_->name() + ": entry " + std::to_string(number) + ": " + defect};
}

Status Tree::LoadEntry(uint64_t number, Entry* entry) const {
  format::DigestedEntry digested{};
  const format::Entry& raw = digested.entry;
  if (has_digests()) {
    AUGUR_TRY(index_->Load(SectionId::kEntries, number, &digested));
  } else {
    AUGUR_TRY(index_->Load(SectionId::kEntries, number, &digested.entry));
  }
  if (const char* defect = EntryDefect(number, raw, limits_)) return Defect(number, defect);
  if (has_digests()) {
    if (const char* defect = DigestDefect(raw, digested.digest)) return Defect(number, defect);
  }
  const EntryType type = TypeOf(raw.mode);
  AUGUR_TRY(index_->LoadText(raw.name_offset, raw.name_bytes, &entry->name));
  if (const char* defect = NameDefect(entry->name)) return Defect(number, defect);
  if (type == EntryType::kFile && raw.size > 0) {
    format::Shard shard;
    AUGUR_TRY(index_->Load(SectionId::kShards, raw.shard, &shard));
    if (const char* defect = ExtentDefect(raw.offset, raw.size, shard)) return Defect(number, defect);
  } else if (type == EntryType::kSymlink) {
    std::string_view target;
    AUGUR_TRY(index_->LoadText(raw.offset, raw.size, &target));
    if (const char* defect = TargetDefect(target)) return Defect(number, defect);
  }
  entry->number = number;
  entry->parent = raw.parent;
  entry->type = type;
  entry->mode = raw.mode;
  entry->mtime_sec = raw.mtime_sec;
  entry->mtime_nsec = raw.mtime_nsec;
  entry->size = raw.size;
  entry->offset = raw.offset;
  entry->shard = raw.shard;
  entry->first_block = raw.first_block;
  entry->hash = {.low = raw.hash.low, .high = raw.hash.high};
  entry->image = {.width = raw.width,
                  .height = raw.height,
                  .exif_bytes = raw.exif_bytes,
                  .kind = static_cast<ImageKind>(raw.image_kind),
                  .channels = raw.channels,
                  .orientation = raw.orientation,
                  .bit_depth = raw.bit_depth};
  return Status::Ok();
}

Status Tree::LoadName(uint64_t number, std::string_view* name) const {
  NamePlace place;
  AUGUR_TRY(index_->Load(SectionId::kEntries, number, &place));
  if (!index_->HasText(place.offset, place.bytes)) return Defect(number, "the name leaves NAMES");
  if (place.bytes == 0) return Defect(number, "a name of 0 bytes");
  return index_->LoadText(place.offset, place.bytes, name);
}

Status Tree::CheckPlace(const Entry& directory, uint64_t position, const Entry& child) const {
  if (child.parent != directory.number) return Defect(child.number, "its parent is not the directory that lists it");
  if (position == 0) return Status::Ok();
  std::string_view before;
  AUGUR_TRY(LoadName(child.number - 1, &before));
  if (before >= child.name) return Defect(child.number, "its name is not above the one before it");
  return Status::Ok();
}

Result<Entry> Tree::Get(uint64_t number) const {
  if (number >= limits_.entry_count) {
    return Status(Code::kNotFound, index_->name() + ": no entry " + std::to_string(number));
  }
  Entry entry;
  AUGUR_TRY(LoadEntry(number, &entry));
  if (number > 0) {
    format::Entry parent;
    AUGUR_TRY(index_->Load(SectionId::kEntries, entry.parent, &parent));
    if (TypeOf(parent.mode) != EntryType::kDirectory) return Defect(number, "its parent is not a directory");
  }
  return entry;
}

Result<Entry> Tree::Lookup(const Entry& directory, std::string_view name) const {
  if (directory.type != EntryType::kDirectory || name.empty() || name.size() > format::kNameBytesMax) {
    return NotThere();
  }
  uint64_t low = 0;
  uint64_t high = directory.size;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    std::string_view probed;
    AUGUR_TRY(LoadName(directory.offset + middle, &probed));
    // char_traits<char>::compare is memcmp: bytes as unsigned.
    const int order = probed.compare(name);
    if (order == 0) {
      Entry child;
      AUGUR_TRY(LoadEntry(directory.offset + middle, &child));
      AUGUR_TRY(CheckPlace(directory, middle, child));
      return child;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NotThere();
}

Result<Entry> Tree::Child(const Entry& directory, uint64_t position) const {
  AUGUR_CHECK(directory.type == EntryType::kDirectory && position < directory.size);
  Entry child;
  AUGUR_TRY(LoadEntry(directory.offset + position, &child));
  AUGUR_TRY(CheckPlace(directory, position, child));
  return child;
}

// Each of the two checks what the other says, so that no two places of a folder have one child: what is listed of a
// folder is a permutation, without a look at all of it.
Result<uint64_t> Tree::ListedPosition(const Entry& directory, uint64_t place) const {
  AUGUR_CHECK(directory.type == EntryType::kDirectory && place < directory.size);
  if (!has_listing()) return place;
  format::ListingItem item;
  AUGUR_TRY(index_->Load(SectionId::kListing, directory.offset + place, &item));
  if (item.listed >= directory.size) return Defect(directory.offset + place, "its listed position leaves the folder");
  format::ListingItem back;
  AUGUR_TRY(index_->Load(SectionId::kListing, directory.offset + item.listed, &back));
  if (back.place != place) return Defect(directory.offset + item.listed, "its place is not where the listing has it");
  return item.listed;
}

Result<uint64_t> Tree::ListingPlace(const Entry& directory, uint64_t position) const {
  AUGUR_CHECK(directory.type == EntryType::kDirectory && position < directory.size);
  if (!has_listing()) return position;
  format::ListingItem item;
  AUGUR_TRY(index_->Load(SectionId::kListing, directory.offset + position, &item));
  if (item.place >= directory.size) return Defect(directory.offset + position, "its place leaves the folder");
  format::ListingItem back;
  AUGUR_TRY(index_->Load(SectionId::kListing, directory.offset + item.place, &back));
  if (back.listed != position) return Defect(directory.offset + position, "its place is not where the listing has it");
  return item.place;
}

Result<Entry> Tree::Find(std::string_view path) const {
  AUGUR_TRY_ASSIGN(entry, Get(0));
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name.empty()) continue;
    AUGUR_TRY_ASSIGN(child, Lookup(entry, name));
    entry = child;
  }
  return entry;
}

Result<std::string> Tree::PathOf(uint64_t number) const {
  AUGUR_TRY_ASSIGN(entry, Get(number));
  // Built from the end, because the walk goes up. Each step goes to a lower number and adds bytes, so it ends.
  std::string reversed;
  while (entry.number != 0) {
    if (!reversed.empty()) reversed.push_back('/');
    reversed.append(entry.name.rbegin(), entry.name.rend());
    if (reversed.size() > format::kPathBytesMax) return Defect(number, "its path is over 4,095 bytes");
    AUGUR_TRY_ASSIGN(parent, Get(entry.parent));
    entry = parent;
  }
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

std::string Tree::PathForMessage(uint64_t number) const {
  const Result<std::string> path = PathOf(number);
  return path.ok() ? Printable(*path) : "entry " + std::to_string(number);
}

Status Tree::ChecksumMismatch(std::string_view locator, const Entry& file, std::optional<uint64_t> block) const {
  const std::string where = block.has_value() ? " block " + std::to_string(*block) : "";
  return {Code::kCorrupt, Printable(locator) + ": record " + std::to_string(file.number) + where + " (" +
                              PathForMessage(file.number) + "): checksum mismatch"};
}

Result<std::string_view> Tree::LinkTarget(const Entry& link) const {
  AUGUR_CHECK(link.type == EntryType::kSymlink);
  AUGUR_CHECK(index_->HasText(link.offset, link.size));
  std::string_view target;
  AUGUR_TRY(index_->LoadText(link.offset, link.size, &target));
  return target;
}

Result<Hash128> Tree::BlockHash(const Entry& file, uint64_t block) const {
  AUGUR_CHECK(block < Store::BlockCount(file));
  if (file.size <= kBlockBytes) return file.hash;
  format::Hash hash;
  AUGUR_TRY(index_->Load(SectionId::kBlocks, file.first_block + block, &hash));
  return Hash128{.low = hash.low, .high = hash.high};
}

Result<Digest> Tree::BlockDigest(const Entry& file, uint64_t block) const {
  AUGUR_CHECK(block < Store::BlockCount(file));
  if (file.size <= kBlockBytes || !has_digests()) return RecordDigest(file);
  format::Block hashes;
  AUGUR_TRY(index_->Load(SectionId::kBlocks, file.first_block + block, &hashes));
  return hashes.digest;
}

Result<Digest> Tree::RecordDigest(const Entry& file) const {
  if (!has_digests()) return Status(Code::kUnsupported, index_->name() + ": is of version 1, which has no SHA-256");
  format::DigestedEntry entry;
  AUGUR_TRY(index_->Load(SectionId::kEntries, file.number, &entry));
  return entry.digest;
}

}  // namespace augur
