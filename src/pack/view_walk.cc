// SPDX-License-Identifier: Apache-2.0
#include "pack/view_walk.h"

#include <string_view>
#include <utility>

#include "store/format.h"

namespace augur {
namespace {

std::string Join(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : folder + "/" + std::string(name);
}

}  // namespace

ViewWalk::ViewWalk(const Store& store, const ViewSpec& spec, const PathFilter& filter)
    : store_(store), spec_(spec), filter_(filter) {}

bool ViewWalk::Takes(const Entry& entry, const std::string& path) const {
  if (filter_.takes_everything()) return true;
  return entry.type == EntryType::kDirectory ? filter_.TakesFolder(path) : filter_.TakesFile(path);
}

Status ViewWalk::Enter(const Entry& folder, std::string path) {
  Level level{.folder = folder, .path = std::move(path)};
  if (spec_.renames()) {
    std::vector<ViewNames::Original> originals;
    originals.reserve(folder.size);
    for (uint64_t position = 0; position < folder.size; ++position) {
      AUGUR_TRY_ASSIGN(child, store_.Child(folder, position));
      if (!Takes(child, Join(level.path, child.name))) continue;
      originals.push_back({.name = child.name, .ending = ShownEnding(spec_, child)});
    }
    level.names = std::make_unique<ViewNames>(std::move(originals));
  }
  levels_.push_back(std::move(level));
  return {};
}

// `item` has its entry and its path in the source.
void ViewWalk::Show(const Level& level, size_t index, ViewItem* item) const {
  const Entry& entry = item->entry;
  item->shown = ShownAs(spec_, entry);
  item->too_long = false;
  item->path.clear();
  item->size = 0;
  if (item->shown == Shown::kAbsent) return;
  if (level.names == nullptr) {
    item->path = item->source_path;
  } else {
    const std::string name = level.names->NameOf(index);
    item->too_long = name.empty();
    if (item->too_long) item->shown = Shown::kAbsent;
    item->path = Join(level.path, name);
  }
  if (entry.type == EntryType::kFile && !item->too_long) item->size = ShownSize(spec_, entry);
}

Result<bool> ViewWalk::Next(ViewItem* item) {
  if (!std::exchange(begun_, true)) {
    *item = {};
    AUGUR_TRY_ASSIGN(root, store_.Get(0));
    item->entry = root;
    AUGUR_TRY(Enter(root, std::string()));
    return true;
  }
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (level.position == level.folder.size) {
      levels_.pop_back();
      continue;
    }
    AUGUR_TRY_ASSIGN(child, store_.Child(level.folder, level.position++));
    std::string path = Join(level.path, child.name);
    if (!Takes(child, path)) continue;
    if (path.size() > format::kPathBytesMax) {
      return Status(Code::kCorrupt, store_.path() + ": entry " + std::to_string(child.number) + ": the path is over " +
                                        std::to_string(format::kPathBytesMax) + " bytes");
    }
    item->entry = child;
    item->source_path = std::move(path);
    Show(level, level.taken++, item);
    if (child.type == EntryType::kDirectory) AUGUR_TRY(Enter(child, item->source_path));
    return true;
  }
  return false;
}

}  // namespace augur
