// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/tree_walk.h"

#include <string_view>
#include <utility>

#include "base/units.h"

namespace augur {
namespace {

constexpr size_t kPathBytesMax = 4095;  // FORMAT.md section 8

// A folder whose children are being visited.
struct Level {
  Entry folder;
  std::string path;
  bool whole = false;
  uint64_t next_position = 0;                    // of a whole folder
  std::set<uint64_t>::const_iterator next = {};  // of one on the way
};

class Walk {
 public:
  Walk(const Store& store, const Selection& selection, TreeVisitor& visitor)
      : store_(store), selection_(selection), visitor_(visitor) {}

  Status Run() {
    AUGUR_TRY_ASSIGN(root, store_.Get(0));
    AUGUR_TRY(Enter(root, std::string(), false));
    while (!levels_.empty()) AUGUR_TRY(Step());
    return Status::Ok();
  }

 private:
  Status Enter(const Entry& folder, std::string path, bool inherited) {
    Level level{.folder = folder, .path = std::move(path)};
    level.whole = inherited || selection_.IsWhole(folder.number);
    if (!level.whole) level.next = selection_.OnTheWay(folder.number).begin();
    AUGUR_TRY(visitor_.EnterFolder(level.folder, level.path, level.whole));
    levels_.push_back(std::move(level));
    return Status::Ok();
  }

  // Visits the next child of the deepest folder, or leaves the folder.
  Status Step() {
    Level& level = levels_.back();
    const bool done = level.whole ? level.next_position == level.folder.size
                                  : level.next == selection_.OnTheWay(level.folder.number).end();
    if (done) {
      AUGUR_TRY(visitor_.LeaveFolder(level.folder, level.path, level.whole));
      levels_.pop_back();
      return Status::Ok();
    }
    AUGUR_TRY_ASSIGN(child,
                     level.whole ? store_.Child(level.folder, level.next_position++) : store_.Get(*level.next++));
    std::string path = JoinPath(level.path, child.name);
    if (path.size() > kPathBytesMax) {
      return {Code::kCorrupt, store_.path() + ": entry " + std::to_string(child.number) + ": the path is over " +
                                  std::to_string(kPathBytesMax) + " bytes"};
    }
    if (child.type == EntryType::kDirectory) return Enter(child, std::move(path), level.whole);
    return visitor_.Leaf(child, path);
  }

  const Store& store_;
  const Selection& selection_;
  TreeVisitor& visitor_;
  std::vector<Level> levels_;
};

}  // namespace

std::string JoinPath(const std::string& folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  return folder + "/" + std::string(name);
}

Result<Entry> FindPath(const Store& store, const std::string& path) {
  Result<Entry> entry = store.Find(path);
  if (entry.ok() || entry.status().code() != Code::kNotFound) return entry;
  return Status(Code::kNotFound, Printable(store.path()) + ": no such path in the store: '" + Printable(path) + "'");
}

Result<Selection> Selection::Make(const Store& store, const std::vector<std::string>& paths) {
  Selection selection;
  selection.everything_ = paths.empty();
  for (const std::string& path : paths) {
    Result<Entry> entry = FindPath(store, path);
    if (!entry.ok()) return entry.status();
    if (entry->number == 0) {
      selection.everything_ = true;
      continue;
    }
    selection.whole_.insert(entry->number);
    while (entry->number != 0) {
      selection.on_the_way_[entry->parent].insert(entry->number);
      const uint64_t parent = entry->parent;
      entry = store.Get(parent);
      if (!entry.ok()) return entry.status();
    }
  }
  return selection;
}

Status WalkTree(const Store& store, const Selection& selection, TreeVisitor& visitor) {
  return Walk(store, selection, visitor).Run();
}

}  // namespace augur
