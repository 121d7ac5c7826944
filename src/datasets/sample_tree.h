// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "augur/store.h"
#include "datasets/file_kinds.h"
#include "datasets/order.h"

namespace augur {

// SampleTree is what lists of samples need to know of a folder and all below it, read once from the index. It has for
// each file the kind of its name (a byte), for each folder where its children are, and where symbolic links lead.
// Immutable, safe from any thread. Names are not kept: they are asked of the store, which it holds. Folders outside
// that links lead to are part of it, too.
class SampleTree {
 public:
  struct Folder {
    EntryNumber number = 0;
    EntryNumber first_child = 0;
    uint32_t child_count = 0;
    uint32_t first_folder = 0;  // index of its first sub-folder; they are in the order of their names
    uint64_t first_kind = 0;    // of its children in kinds_
    bool has_folders = false;   // sub-folders, or links
    bool odd_names = false;     // one of them is not UTF-8: Python has another order than we
    bool natural = true;        // NaturalCompare has no two neighbours the other way round
  };
  struct Link {
    uint8_t kind = 0;        // by its own name, as if it was a file
    bool to_folder = false;  // else to a file, or to nothing that is in the store
    EntryNumber file = 0;    // the file that is read through it; the link's own number if that is not in the store
    uint32_t folder = 0;     // index
  };

  // Reads the tree below the folder with this number. kNoSpace: it would take over `bytes_max`. kUnsupported: over 2^32
  // entries. kInvalid: it is no folder. Those of the store.
  static Result<std::shared_ptr<const SampleTree>> Read(std::shared_ptr<const Store> store, EntryNumber root,
                                                        uint64_t bytes_max);

  const Store& store() const { return *store_; }
  const FileKinds& kinds() const { return kinds_; }
  // By index; the root is 0.
  const Folder& folder(uint32_t index) const { return folders_[index]; }
  size_t folder_count() const { return folders_.size(); }
  // The index of the folder with this number, if it is in the tree. Looks through all folders.
  std::optional<uint32_t> Find(EntryNumber number) const;
  // For each child of the folder, by position, the number of its kind, FileKinds::kFolder or kLink.
  std::span<const uint8_t> ChildKinds(const Folder& folder) const {
    return std::span(child_kinds_).subspan(folder.first_kind, folder.child_count);
  }
  // REQUIRES: the child is a link.
  const Link& link(EntryNumber number) const { return links_.at(number); }
  bool has_links() const { return !links_.empty(); }
  bool has_folder_links() const { return has_folder_links_; }

  uint64_t memory_bytes() const;

 private:
  explicit SampleTree(std::shared_ptr<const Store> store) : store_(std::move(store)) {}

  Status ReadFolders(uint64_t bytes_max);
  Status ReadChildren(uint32_t index, const Entry& entry);
  Status FollowLinks();

  // Constant after Read.
  const std::shared_ptr<const Store> store_;
  FileKinds kinds_;
  std::vector<Folder> folders_;  // breadth first, so that the sub-folders of one are side by side
  std::vector<uint8_t> child_kinds_;
  std::unordered_map<EntryNumber, Link> links_;
  bool has_folder_links_ = false;

  std::vector<EntryNumber> to_follow_;  // links met by Read
};

}  // namespace augur
