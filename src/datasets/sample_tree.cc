// SPDX-License-Identifier: Apache-2.0
#include "datasets/sample_tree.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/units.h"
#include "datasets/file_path.h"
#include "datasets/python_order.h"

namespace augur {

Result<std::shared_ptr<const SampleTree>> SampleTree::Read(std::shared_ptr<const Store> store, EntryNumber root,
                                                           uint64_t bytes_max) {
  const uint64_t count = store->summary().entry_count;
  if (count > uint64_t{std::numeric_limits<EntryNumber>::max()} + 1) {
    return Status(Code::kUnsupported,
                  store->path() + ": " + std::to_string(count) + " entries: orders are known for 2^32 at most");
  }
  const std::shared_ptr<SampleTree> tree(new SampleTree(std::move(store)));
  tree->folders_.push_back({.number = root});
  AUGUR_TRY(tree->ReadFolders(bytes_max));
  tree->folders_.shrink_to_fit();
  tree->child_kinds_.shrink_to_fit();
  return std::shared_ptr<const SampleTree>(tree);
}

Status SampleTree::ReadFolders(uint64_t bytes_max) {
  for (uint32_t index = 0; index < folders_.size();) {
    for (; index < folders_.size(); ++index) {
      AUGUR_TRY_ASSIGN(entry, store_->Get(folders_[index].number));
      AUGUR_TRY(ReadChildren(index, entry));
      if (memory_bytes() > bytes_max) {
        return {Code::kNoSpace, store_->path() + ": its folders take more than " + FormatSize(bytes_max) +
                                    " to list: orders are not predicted for a store with this number of folders"};
      }
    }
    AUGUR_TRY(FollowLinks());  // may add folders
  }
  return Status::Ok();
}

Status SampleTree::ReadChildren(uint32_t index, const Entry& entry) {
  if (entry.type != EntryType::kDirectory) return {Code::kInvalid, "a file, not a folder"};
  Folder folder = folders_[index];
  folder.first_child = static_cast<EntryNumber>(entry.offset);
  folder.child_count = static_cast<uint32_t>(entry.size);
  folder.first_kind = child_kinds_.size();
  folder.first_folder = static_cast<uint32_t>(folders_.size());
  std::string_view before;
  for (uint64_t position = 0; position < entry.size; ++position) {
    AUGUR_TRY_ASSIGN(child, store_->Child(entry, position));
    const auto number = static_cast<EntryNumber>(child.number);
    uint8_t kind = FileKinds::kFolder;
    if (child.type == EntryType::kFile) {
      kind = kinds_.Number(child.name);
    } else if (child.type == EntryType::kDirectory) {
      folders_.push_back({.number = number});
      folder.has_folders = true;
    } else {
      kind = FileKinds::kLink;
      links_[number].kind = kinds_.Number(child.name);
      to_follow_.push_back(number);
      folder.has_folders = true;
    }
    child_kinds_.push_back(kind);
    folder.odd_names = folder.odd_names || !IsUtf8(child.name);
    folder.natural = folder.natural && (position == 0 || NaturalCompare(before, false, child.name, false) <= 0);
    before = child.name;
  }
  folders_[index] = folder;
  return Status::Ok();
}

Status SampleTree::FollowLinks() {
  std::vector<EntryNumber> to_follow;
  to_follow.swap(to_follow_);
  if (to_follow.empty()) return Status::Ok();
  std::unordered_map<EntryNumber, uint32_t> indices;
  for (uint32_t index = 0; index < folders_.size(); ++index) indices[folders_[index].number] = index;
  for (const EntryNumber number : to_follow) {
    Link& link = links_[number];
    link.file = number;
    AUGUR_TRY_ASSIGN(entry, store_->Get(number));
    AUGUR_TRY_ASSIGN(folder, store_->PathOf(entry.parent));
    AUGUR_TRY_ASSIGN(target, store_->LinkTarget(entry));
    if (target.starts_with('/')) continue;  // out of the mount
    const Result<Entry> found = FindFileOrFolder(*store_, folder + "/" + std::string(target));
    if (!found.ok()) {
      if (found.status().code() != Code::kNotFound && found.status().code() != Code::kInvalid) return found.status();
      continue;
    }
    const auto found_number = static_cast<EntryNumber>(found->number);
    if (found->type == EntryType::kFile) {
      link.file = found_number;
      continue;
    }
    const auto [at, is_new] = indices.try_emplace(found_number, static_cast<uint32_t>(folders_.size()));
    if (is_new) folders_.push_back({.number = found_number});
    link.to_folder = true;
    link.folder = at->second;
    has_folder_links_ = true;
  }
  return Status::Ok();
}

std::optional<uint32_t> SampleTree::Find(EntryNumber number) const {
  const auto at =
      std::find_if(folders_.begin(), folders_.end(), [number](const Folder& one) { return one.number == number; });
  if (at == folders_.end()) return std::nullopt;
  return static_cast<uint32_t>(at - folders_.begin());
}

uint64_t SampleTree::memory_bytes() const {
  constexpr uint64_t kNodeBytes = 32;  // of a hash map, beside the value
  return child_kinds_.capacity() + folders_.capacity() * sizeof(Folder) +
         links_.size() * (sizeof(Link) + sizeof(EntryNumber) + kNodeBytes);
}

}  // namespace augur
