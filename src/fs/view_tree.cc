// SPDX-License-Identifier: Apache-2.0
#include "fs/view_tree.h"

#include <optional>
#include <string>

#include "views/view_names.h"

namespace augur {
namespace {

// Its children in the order of their names, as the store has them. REQUIRES: all three outlive it.
ViewNames NamesIn(const Store& store, const View& view, const Entry& directory) {
  return ViewNames({.size = directory.size,
                    .name = [&store, &directory](uint64_t index) -> Result<std::string_view> {
                      AUGUR_TRY_ASSIGN(child, store.Child(directory, index));
                      return child.name;
                    },
                    .ending = [&store, &view, &directory](uint64_t index) -> Result<std::string_view> {
                      AUGUR_TRY_ASSIGN(child, store.Child(directory, index));
                      return EndingInView(view.spec, child);
                    }});
}

}  // namespace

// Whether a folder of the view has the entry, by its own name or another one.
Result<bool> ViewTree::IsInFolder(const View& view, const Entry& entry) const {
  if (view.spec.has_archives() && entry.type == EntryType::kFile) return false;
  const ViewRole role = RoleInView(view.spec, entry);
  if (role != ViewRole::kRendered || !view.spec.has_labels() || labels_ == nullptr) return role != ViewRole::kAbsent;
  AUGUR_TRY_ASSIGN(label, labels_->LabelIn(entry.parent));
  return label.has_value();
}

Result<Entry> ViewTree::Lookup(const View& view, const Entry& directory, std::string_view name) const {
  if (!view.spec.renames()) {
    AUGUR_TRY_ASSIGN(child, store_->Lookup(directory, name));
    AUGUR_TRY_ASSIGN(is_there, IsInFolder(view, child));
    if (!is_there) return Status(Code::kNotFound, "absent in view " + view.text);
    return child;
  }
  AUGUR_TRY_ASSIGN(position, NamesIn(*store_, view, directory).Find(name));
  if (!position) return Status(Code::kNotFound, "no such name in view " + view.text);
  AUGUR_TRY_ASSIGN(child, store_->Child(directory, *position));
  AUGUR_TRY_ASSIGN(is_there, IsInFolder(view, child));
  if (!is_there) return Status(Code::kNotFound, "absent in view " + view.text);
  return child;
}

Result<std::string> ViewTree::NameOf(const View& view, const Entry& entry) const {
  AUGUR_TRY_ASSIGN(is_there, IsInFolder(view, entry));
  if (!is_there) return Status(Code::kNotFound, "absent in view " + view.text);
  if (!view.spec.renames()) return std::string(entry.name);
  AUGUR_TRY_ASSIGN(directory, store_->Get(entry.parent));
  AUGUR_TRY_ASSIGN(name, NamesIn(*store_, view, directory).NameOf(entry.number - directory.offset));
  if (name.empty()) return Status(Code::kNotFound, "its name would be too long in view " + view.text);
  return name;
}

Status ViewTree::List(const View& view, const Entry& directory, uint64_t place, const Take& take) const {
  const ViewNames names = NamesIn(*store_, view, directory);
  for (; place < directory.size; ++place) {
    AUGUR_TRY_ASSIGN(position, store_->ListedPosition(directory, place));
    AUGUR_TRY_ASSIGN(child, store_->Child(directory, position));
    AUGUR_TRY_ASSIGN(is_there, IsInFolder(view, child));
    if (!is_there) continue;
    if (view.spec.renames()) {
      AUGUR_TRY_ASSIGN(renamed, names.NameOf(position));
      if (renamed.empty()) continue;  // too long
      if (!take(renamed, child, place)) break;
    } else if (!take(child.name, child, place)) {
      break;
    }
  }
  return Status::Ok();
}

}  // namespace augur
