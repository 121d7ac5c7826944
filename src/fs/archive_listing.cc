// SPDX-License-Identifier: Apache-2.0
#include "fs/archive_listing.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "archives/archive_info.h"
#include "archives/archive_names.h"
#include "datasets/class_labels.h"
#include "fs/archive_node.h"
#include "views/view_names.h"

namespace augur {

namespace {

// The folder that name=N of a SPEC means.
constexpr std::string_view kRenamedFolder = "val";

Result<std::optional<Entry>> FindFolder(const Store& store, const Entry& directory, std::string_view name) {
  const Result<Entry> child = store.Lookup(directory, name);
  if (!child.ok() && child.status().code() != Code::kNotFound) return child.status();
  const bool is_folder = child.ok() && child->type == EntryType::kDirectory;
  return is_folder ? std::optional(*child) : std::nullopt;
}

// Whether the archives of `val` in the directory are called by the name of the SPEC, which is then not that of another
// folder.
Result<bool> RenamesVal(const Store& store, const Entry& directory, const ViewSpec& spec) {
  const ArchiveSpec& archive = spec.archive;
  if (archive.keys != ExampleKeys::kImagenet || archive.name.empty() || archive.name == kRenamedFolder) return false;
  AUGUR_TRY_ASSIGN(other, FindFolder(store, directory, archive.name));
  return !other;
}

}  // namespace

Result<EntryNumber> FolderOfArchives(const Store& store, const Entry& directory, const ViewSpec& spec,
                                     std::string_view name) {
  const Status none = {Code::kNotFound, "no folder of that name has archives"};
  AUGUR_TRY_ASSIGN(renames, RenamesVal(store, directory, spec));
  if (renames && name == kRenamedFolder) return none;
  AUGUR_TRY_ASSIGN(folder, FindFolder(store, directory, renames && name == spec.archive.name ? kRenamedFolder : name));
  if (!folder && directory.number == 0 && name == kRootArchiveName) return EntryNumber{0};
  if (!folder || folder->number >= ArchiveNode::kFoldersMax) return none;
  return static_cast<EntryNumber>(folder->number);
}

Result<bool> ShowsOwn(const Store& store, const Entry& directory, std::string_view name) {
  const Result<Entry> child = store.Lookup(directory, name);
  if (child.ok()) return child->type != EntryType::kFile;
  if (child.status().code() == Code::kNotFound) return false;
  return child.status();
}

Result<ArchiveListing> ArchiveListing::Make(const Store& store, const Entry& folder, const ViewSpec& spec,
                                            const Find& find) {
  ArchiveListing listing;
  std::vector<ArchiveSplit> splits;
  AUGUR_TRY_ASSIGN(has_splits, HasSplits(store));
  const auto add = [&](EntryNumber number, std::string_view name) -> Status {
    AUGUR_TRY_ASSIGN(set, find(number));
    if (set == nullptr || set->shard_count() == 0) return {};
    const bool is_whole = spec.has_archive_folders();
    listing.folders_.push_back({.number = number,
                                .name = std::string(name),
                                .shards = is_whole ? 1 : set->shard_count(),
                                .is_whole = is_whole});
    if (ArchiveInfoNames(spec).empty()) return {};
    ArchiveSplit split;
    split.name = name;
    split.is_whole = number == 0 && !has_splits;
    AUGUR_TRY_ASSIGN(classes, set->samples().ClassNames());
    split.classes.assign(classes.begin(), classes.end());
    for (uint32_t shard = 0; shard < set->shard_count(); ++shard) {
      split.files.push_back(NameOfArchive(spec, {.folder = name, .shard = shard, .shards = set->shard_count()}));
      split.sample_counts.push_back(set->SampleCount(shard));
      split.bytes += set->FileBytes(shard);
    }
    splits.push_back(std::move(split));
    return {};
  };
  const Result<EntryNumber> root = FolderOfArchives(store, folder, spec, kRootArchiveName);
  if (root.ok() && *root == 0) AUGUR_TRY(add(0, kRootArchiveName));
  AUGUR_TRY_ASSIGN(renames, RenamesVal(store, folder, spec));
  for (uint64_t position = 0; position < folder.size; ++position) {
    AUGUR_TRY_ASSIGN(child, store.Child(folder, position));
    if (child.type != EntryType::kDirectory || child.number >= ArchiveNode::kFoldersMax) continue;
    const bool is_renamed = renames && child.name == kRenamedFolder;
    AUGUR_TRY(add(static_cast<EntryNumber>(child.number), is_renamed ? spec.archive.name : child.name));
  }
  for (const Folder& one : listing.folders_) listing.count_ += one.shards;
  if (listing.count_ == 0) return listing;
  const std::string_view name = folder.number == 0 ? kRootArchiveName : folder.name;
  if (!splits.empty()) listing.info_ = MakeArchiveInfo(spec, std::string(name), splits);
  listing.count_ += listing.info_.size();
  return listing;
}

void ArchiveListing::ForEach(const ViewSpec& spec, uint64_t place, const Take& take) const {
  uint64_t first = 0;
  for (const Folder& folder : folders_) {
    for (; place < first + folder.shards; ++place) {
      const auto shard = static_cast<uint32_t>(place - first);
      const std::string name = NameOfArchive(spec, {.folder = folder.name, .shard = shard, .shards = folder.shards});
      const uint32_t file = folder.is_whole ? ArchiveNode::kFirstPart + kWholePart : shard;
      if (name.size() <= ViewNames::kNameBytesMax && !take(name, folder.number, file, place)) return;
    }
    first += folder.shards;
  }
  for (; place < count_; ++place) {
    const auto number = static_cast<uint32_t>(place - first);
    if (!take(info_[number].name, 0, ArchiveNode::kFirstInfo + number, place)) return;
  }
}

uint64_t ArchiveListing::memory_bytes() const {
  uint64_t info_bytes = 0;
  for (const ArchiveInfoFile& file : info_) info_bytes += sizeof(file) + file.text.capacity();
  return sizeof(*this) + folders_.capacity() * sizeof(Folder) + info_bytes;
}

}  // namespace augur
