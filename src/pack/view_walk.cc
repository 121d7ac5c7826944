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
    : store_(store),
      spec_(spec),
      filter_(filter),
      labels_(store, [this](const Entry& entry, const std::string& path) { return IsLeft(entry, path); }) {}

bool ViewWalk::Takes(const Entry& entry, const std::string& path) const {
  if (filter_.takes_everything()) return true;
  return entry.type == EntryType::kDirectory ? filter_.TakesFolder(path) : filter_.TakesFile(path);
}

// Whether it is in what is packed: a folder in which nothing is taken may be out, too.
Result<bool> ViewWalk::IsLeft(const Entry& entry, const std::string& path) const {
  if (!Takes(entry, path)) return false;
  if (entry.type != EntryType::kDirectory || !filter_.drops_empty_folders()) return true;
  for (uint64_t position = 0; position < entry.size; ++position) {
    AUGUR_TRY_ASSIGN(child, store_.Child(entry, position));
    AUGUR_TRY_ASSIGN(is_left, IsLeft(child, Join(path, child.name)));
    if (is_left) return true;
  }
  return false;
}

// Of what the filter takes of the folder.
Result<ViewNames> ViewWalk::NamesIn(const Entry& folder, const std::string& path) const {
  const bool all = filter_.takes_everything();
  std::vector<uint64_t> taken;
  for (uint64_t position = 0; position < folder.size && !all; ++position) {
    AUGUR_TRY_ASSIGN(child, store_.Child(folder, position));
    if (Takes(child, Join(path, child.name))) taken.push_back(position);
  }
  const uint64_t size = all ? folder.size : taken.size();
  const auto child_at = [this, folder, all, taken = std::make_shared<const std::vector<uint64_t>>(std::move(taken))](
                            uint64_t index) { return store_.Child(folder, all ? index : (*taken)[index]); };
  return ViewNames({.size = size,
                    .name = [child_at](uint64_t index) -> Result<std::string_view> {
                      AUGUR_TRY_ASSIGN(child, child_at(index));
                      return child.name;
                    },
                    .ending = [this, child_at](uint64_t index) -> Result<std::string_view> {
                      AUGUR_TRY_ASSIGN(child, child_at(index));
                      return EndingInView(spec_, child);
                    }});
}

Status ViewWalk::Enter(const Entry& folder, std::string path) {
  Level level{.folder = folder, .path = std::move(path)};
  if (spec_.renames()) {
    AUGUR_TRY_ASSIGN(names, NamesIn(folder, level.path));
    level.names = std::make_unique<ViewNames>(std::move(names));
  }
  if (spec_.has_labels()) {
    AUGUR_TRY_ASSIGN(label, labels_.LabelIn(folder.number));
    level.label = label;
  }
  levels_.push_back(std::move(level));
  return {};
}

// `item` has its entry and its path in the source.
Status ViewWalk::FillItem(const Level& level, uint64_t index, ViewItem* item) const {
  const Entry& entry = item->entry;
  item->role = RoleInView(spec_, entry);
  item->too_long = false;
  item->label = level.label.value_or(ClassLabels::kNoLabel);
  if (spec_.has_labels() && item->role == ViewRole::kRendered && !level.label) item->role = ViewRole::kAbsent;
  item->path.clear();
  item->size = 0;
  if (item->role == ViewRole::kAbsent) return {};
  if (level.names == nullptr) {
    item->path = item->source_path;
  } else {
    AUGUR_TRY_ASSIGN(name, level.names->NameOf(index));
    item->too_long = name.empty();
    if (item->too_long) item->role = ViewRole::kAbsent;
    item->path = Join(level.path, name);
  }
  if (entry.type == EntryType::kFile && !item->too_long) item->size = SizeInView(spec_, entry);
  return {};
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
    const uint64_t position = level.position++;
    AUGUR_TRY_ASSIGN(child, store_.Child(level.folder, position));
    std::string path = Join(level.path, child.name);
    if (!Takes(child, path)) continue;
    if (path.size() > format::kPathBytesMax) {
      return Status(Code::kCorrupt, store_.path() + ": entry " + std::to_string(child.number) + ": the path is over " +
                                        std::to_string(format::kPathBytesMax) + " bytes");
    }
    item->entry = child;
    AUGUR_TRY_ASSIGN(place, store_.ListingPlace(level.folder, position));
    item->place = place;
    item->source_path = std::move(path);
    AUGUR_TRY(FillItem(level, level.taken++, item));
    if (child.type == EntryType::kDirectory) AUGUR_TRY(Enter(child, item->source_path));
    return true;
  }
  return false;
}

}  // namespace augur
