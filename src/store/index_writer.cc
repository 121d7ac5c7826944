// SPDX-License-Identifier: Apache-2.0
#include "store/index_writer.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "augur/store.h"
#include "base/check.h"
#include "base/page.h"
#include "base/units.h"
#include "store/entry_item.h"
#include "store/natural_sort.h"
#include "store/sha256.h"
#include "store/tree_path.h"

namespace augur {
namespace {

using format::SectionId;

constexpr const format::IndexLayout& kLayout = format::kLayout2;
static_assert(kLayout.version == format::kVersion);

// A folder on the way from the root to the entry at hand.
struct OpenFolder {
  std::string_view key;
  uint64_t folder;  // its place among the folders in path order
  uint64_t number;  // of its entry
  uint64_t next;    // number of its next child
};

// Leaves the folders that the walk has come out of. The root stays.
void LeaveFolders(std::vector<OpenFolder>& open, std::string_view key) {
  while (open.size() > 1 && !IsBelow(key, open.back().key)) open.pop_back();
}

// What comes first in a folder: what was there before, then what was added with a place, then the rest.
uint64_t RankOf(const SpoolEntry& entry) {
  constexpr uint64_t kAdded = uint64_t{1} << 62;  // above each place: a folder has fewer entries
  if (entry.place == Attributes::kNoPlace) return UINT64_MAX;
  return std::min(entry.place, kAdded - 1) + (entry.old ? 0 : kAdded);
}

}  // namespace

Result<WrittenIndex> IndexWriter::Write(const WriteFolder& folder, const std::string& name) {
  AUGUR_TRY(Count());
  CountRecords();
  AUGUR_TRY(PlanSections());
  AUGUR_TRY_ASSIGN(file, MappedFile::Create(folder, name));
  AUGUR_TRY(file.Allocate(header_.file_bytes));
  PlaceEntries(file);
  if (with_listing_) PlaceListing(file);
  PlaceShards(file);
  const auto blocks = blocks_.Bytes(0, blocks_.count());
  if (!blocks.empty()) std::memcpy(file.data() + SectionOf(SectionId::kBlocks).offset, blocks.data(), blocks.size());
  PlaceChecksums(file);
  const Digest root_hash = PlaceHeader(file);
  AUGUR_TRY(file.Sync());
  return WrittenIndex{.header = header_, .root_hash = root_hash};
}

Status IndexWriter::Count() {
  AUGUR_CHECK(!sorted_.empty() && spool_.Key(sorted_[0]).empty());
  if (sorted_.size() > format::kEntryCountMax) return {Code::kInvalid, "the tree has more than 2^40 - 2 entries"};
  header_.entry_count = sorted_.size();
  std::vector<OpenFolder> open;
  std::vector<uint64_t>& children = first_child_;
  for (const uint64_t number : sorted_) {
    const SpoolEntry& entry = spool_.At(number);
    const std::string_view key = spool_.Key(number);
    LeaveFolders(open, key);
    if (!open.empty()) {
      ++children[open.back().folder];
      entry_names_bytes_ += NameOfKey(key).size();
    }
    switch (entry.kind) {
      case SpoolKind::kDirectory:
        open.push_back({key, children.size(), 0, 0});
        children.push_back(0);
        ++header_.directory_count;
        break;
      case SpoolKind::kFile:
        ++header_.file_count;
        header_.tree_bytes += entry.size;
        if (entry.image.kind != ImageKind::kNone) ++header_.image_count;
        break;
      case SpoolKind::kSymlink:
        ++header_.symlink_count;
        entry_names_bytes_ += entry.target_bytes;
        break;
      case SpoolKind::kHardLink: AUGUR_CHECK(false);
    }
  }
  uint64_t first = 1;  // the root is 0
  for (uint64_t& count : children) first += std::exchange(count, first);
  children.push_back(first);
  return Status::Ok();
}

// Sums up the distinct records. Where they are comes nearly sorted, since files are mostly added in path order.
void IndexWriter::CountRecords() {
  std::vector<uint64_t> files;
  files.reserve(header_.file_count);
  for (const uint64_t number : sorted_) {
    if (spool_.At(number).kind == SpoolKind::kFile && spool_.At(number).size > 0) files.push_back(number);
  }
  const auto place = [this](uint64_t number) {
    const SpoolEntry& entry = spool_.At(number);
    return std::tuple(entry.shard, entry.offset, entry.size);
  };
  NaturalSort(files, [&](uint64_t a, uint64_t b) { return place(a) < place(b); });
  for (size_t i = 0; i < files.size(); ++i) {
    if (i == 0 || place(files[i]) != place(files[i - 1])) header_.record_bytes += spool_.At(files[i]).size;
  }
}

Status IndexWriter::PlanSections() {
  uint64_t names_bytes = entry_names_bytes_;
  for (const ShardInfo& shard : shards_) names_bytes += shard.locator.size();
  uint64_t offset = format::kBodyOffset;
  uint64_t end = offset;
  const auto plan = [&](SectionId id, uint64_t bytes, uint32_t item_bytes) {
    SectionOf(id) = {.id = static_cast<uint32_t>(id),
                     .version = format::kSectionVersion,
                     .flags = format::kSectionMustUnderstand,
                     .offset = offset,
                     .bytes = bytes,
                     .item_bytes = item_bytes,
                     .reserved = 0};
    end = offset + bytes;
    offset = RoundUp(end, format::kSectionAlign);
  };
  plan(SectionId::kEntries, sorted_.size() * kLayout.entry_bytes, kLayout.entry_bytes);
  plan(SectionId::kNames, names_bytes, 1);
  plan(SectionId::kShards, shards_.size() * sizeof(format::Shard), sizeof(format::Shard));
  plan(SectionId::kBlocks, blocks_.count() * kLayout.block_bytes, kLayout.block_bytes);
  if (with_listing_) {
    plan(SectionId::kListing, sorted_.size() * sizeof(format::ListingItem), sizeof(format::ListingItem));
  }
  offset = RoundUp(end, format::kBodyBlockBytes);
  const uint64_t body_blocks = (offset - format::kBodyOffset) / format::kBodyBlockBytes;
  if (body_blocks > kLayout.root_count() * kLayout.sums_per_root()) {
    return {Code::kInvalid,
            "the tree is too large for one index: " + FormatSize(offset) + ", and 251 GiB is the limit"};
  }
  plan(SectionId::kChecksums, body_blocks * kLayout.sum_bytes, kLayout.sum_bytes);
  header_.magic = format::kIndexMagic;
  header_.version = kLayout.version;
  header_.header_bytes = kLayout.header_bytes;
  header_.file_bytes = end;
  header_.generation = generation_;
  header_.shard_count = static_cast<uint32_t>(shards_.size());
  header_.block_bytes = kBlockBytes;
  header_.section_count = with_listing_ ? 6 : 5;
  return Status::Ok();
}

void IndexWriter::PlaceEntries(MappedFile& file) const {
  auto* entries = reinterpret_cast<format::DigestedEntry*>(file.data() + SectionOf(SectionId::kEntries).offset);
  char* names = reinterpret_cast<char*>(file.data() + SectionOf(SectionId::kNames).offset);
  format::ListingItem* listing =
      with_listing_ ? reinterpret_cast<format::ListingItem*>(file.data() + SectionOf(SectionId::kListing).offset)
                    : nullptr;
  uint64_t names_end = 0;
  const auto add_text = [&](std::string_view text) {
    std::memcpy(names + names_end, text.data(), text.size());
    return std::exchange(names_end, names_end + text.size());
  };
  std::vector<OpenFolder> open;
  constexpr uint64_t kPlacedMax = 65536;  // 10 MiB of entries and names
  uint64_t placed = 0;
  uint64_t folder_count = 0;
  for (const uint64_t number : sorted_) {
    const SpoolEntry& spooled = spool_.At(number);
    const std::string_view key = spool_.Key(number);
    LeaveFolders(open, key);
    format::DigestedEntry item = IndexEntryOf(spooled);
    format::Entry& entry = item.entry;
    uint64_t place = 0;
    if (!open.empty()) {
      OpenFolder& parent = open.back();
      place = parent.next++;
      entry.parent = parent.number;
      const std::string_view name = NameOfKey(key);
      entry.name_bytes = static_cast<uint16_t>(name.size());
      entry.name_offset = add_text(name);
    }
    if (spooled.kind == SpoolKind::kSymlink) {
      entry.size = spooled.target_bytes;
      entry.offset = add_text(spool_.Target(number));
    } else if (spooled.kind == SpoolKind::kDirectory) {
      const uint64_t first = first_child_[folder_count];
      entry.size = first_child_[folder_count + 1] - first;
      entry.offset = entry.size == 0 ? 0 : first;
      open.push_back({key, folder_count, place, first});
      ++folder_count;
    }
    entries[place] = item;
    if (listing != nullptr && place != 0) listing[place].place = RankOf(spooled);
    if (++placed % kPlacedMax == 0) file.Release();
  }
  AUGUR_CHECK(names_end == entry_names_bytes_);
}

// PlaceEntries has left the rank of each entry: what it is sorted by among the children of its folder.
void IndexWriter::PlaceListing(MappedFile& file) const {
  auto* listing = reinterpret_cast<format::ListingItem*>(file.data() + SectionOf(SectionId::kListing).offset);
  std::vector<std::pair<uint64_t, uint64_t>> order;  // rank and position
  for (size_t folder = 0; folder + 1 < first_child_.size(); ++folder) {
    format::ListingItem* const children = listing + first_child_[folder];
    const uint64_t count = first_child_[folder + 1] - first_child_[folder];
    order.clear();
    for (uint64_t position = 0; position < count; ++position) order.emplace_back(children[position].place, position);
    std::sort(order.begin(), order.end());
    for (uint64_t place = 0; place < count; ++place) {
      children[place].listed = order[place].second;
      children[order[place].second].place = place;
    }
  }
}

void IndexWriter::PlaceShards(MappedFile& file) const {
  auto* rows = reinterpret_cast<format::Shard*>(file.data() + SectionOf(SectionId::kShards).offset);
  char* names = reinterpret_cast<char*>(file.data() + SectionOf(SectionId::kNames).offset);
  uint64_t names_end = entry_names_bytes_;
  for (const ShardInfo& shard : shards_) {
    format::Shard row{};
    row.kind = static_cast<uint16_t>(shard.foreign ? format::ShardKind::kForeign : format::ShardKind::kOwn);
    row.locator_kind = static_cast<uint16_t>(shard.address    ? format::LocatorKind::kAddress
                                             : shard.absolute ? format::LocatorKind::kAbsolute
                                                              : format::LocatorKind::kRelative);
    row.locator_bytes = static_cast<uint32_t>(shard.locator.size());
    row.locator_offset = names_end;
    row.file_bytes = shard.bytes;
    row.token_sec = shard.token_sec;
    row.token_nsec = shard.token_nsec;
    row.generation = shard.generation;
    std::copy(shard.locator.begin(), shard.locator.end(), names + names_end);  // without a NUL, as all of NAMES
    names_end += shard.locator.size();
    *rows++ = row;
  }
}

void IndexWriter::PlaceChecksums(MappedFile& file) {
  constexpr uint64_t kWritebackBytes = 8 * kMiB;  // the disk writes one piece while the next is summed
  const format::Section& section = SectionOf(SectionId::kChecksums);
  auto* sums = reinterpret_cast<Digest*>(file.data() + section.offset);
  for (uint64_t begin = format::kBodyOffset; begin < section.offset; begin += format::kBodyBlockBytes) {
    *sums++ = Sha256({file.data() + begin, format::kBodyBlockBytes});
    const uint64_t end = begin + format::kBodyBlockBytes;
    if (end % kWritebackBytes != 0) continue;
    // Only a hint: whatever fails here fails again in Sync, which is asked.
    (void)::sync_file_range(file.fd(), static_cast<off_t>(end - kWritebackBytes), kWritebackBytes,
                            SYNC_FILE_RANGE_WRITE);
    file.Release();
  }
  for (uint64_t begin = 0; begin < section.bytes; begin += format::kBodyBlockBytes) {
    const uint64_t bytes = std::min(format::kBodyBlockBytes, section.bytes - begin);
    roots_.push_back(Sha256({file.data() + section.offset + begin, bytes}));
  }
}

Digest IndexWriter::PlaceHeader(MappedFile& file) const {
  std::memcpy(file.data(), &header_, sizeof(header_));
  std::memcpy(file.data() + kLayout.root_offset, roots_.data(), roots_.size() * sizeof(Digest));
  const Digest root_hash = Sha256({file.data(), kLayout.hash_offset()});
  std::memcpy(file.data() + kLayout.hash_offset(), &root_hash, sizeof(root_hash));
  return root_hash;
}

}  // namespace augur
