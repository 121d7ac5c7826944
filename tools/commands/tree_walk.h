// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "augur/store.h"

namespace augur {

// The part of a tree that a command works on: everything, or the entries of some paths with all below them and the
// folders on the way to them.
class Selection {
 public:
  // Everything.
  Selection() = default;
  // kNotFound: a path is not in the store, by name. No paths: everything.
  static Result<Selection> Make(const Store& store, const std::vector<std::string>& paths);

  // Whether the root and all below it are selected.
  bool everything() const { return everything_; }
  // Whether the folder is selected itself, with all below it, given that the walk has come to it. One that is not is
  // on the way to a selected entry.
  bool IsWhole(uint64_t number) const { return everything_ || whole_.contains(number); }
  // The children to visit of a folder that is on the way.
  const std::set<uint64_t>& OnTheWay(uint64_t number) const { return on_the_way_.at(number); }

 private:
  bool everything_ = true;
  std::set<uint64_t> whole_;
  std::map<uint64_t, std::set<uint64_t>> on_the_way_;  // folder to children
};

// What a walk tells of. `path` is from the store's root, empty for the root itself.
class TreeVisitor {
 public:
  virtual ~TreeVisitor() = default;
  // Before and after the content of the folder. `whole`: the folder is selected itself, not only on the way.
  virtual Status EnterFolder(const Entry& folder, const std::string& path, bool whole) = 0;
  virtual Status LeaveFolder(const Entry& folder, const std::string& path, bool whole) = 0;
  // A file or symbolic link.
  virtual Status Leaf(const Entry& entry, const std::string& path) = 0;
};

// Visits the selected entries of the store depth-first in path order, beginning with the root. Stops at the first
// failure, of the index or of the visitor, and returns it. Memory grows with the depth, which is limited by the length
// of a path: kCorrupt beyond it.
Status WalkTree(const Store& store, const Selection& selection, TreeVisitor& visitor);

// Store::Find, with a text that names store and path when there is none.
Result<Entry> FindPath(const Store& store, const std::string& path);

// `name` below `folder`, a path from the root that may be empty.
std::string JoinPath(const std::string& folder, std::string_view name);

}  // namespace augur
