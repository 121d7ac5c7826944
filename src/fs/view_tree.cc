// SPDX-License-Identifier: Apache-2.0
#include "fs/view_tree.h"

#include <optional>
#include <string>
#include <utility>

namespace augur {

ViewTree::ViewTree(std::shared_ptr<const Store> store, uint64_t names_bytes_max)
    : store_(store), folders_(std::move(store), names_bytes_max) {}

Result<Entry> ViewTree::Lookup(const View& view, const Entry& directory, std::string_view name) {
  if (!view.spec.renames()) return store_->Lookup(directory, name);  // pixels: nothing is absent
  AUGUR_TRY_ASSIGN(names, folders_.Get(view, directory));
  const std::optional<size_t> position = names->Find(name);
  if (!position) return Status(Code::kNotFound, "no such name in view " + view.text);
  AUGUR_TRY_ASSIGN(child, store_->Child(directory, *position));
  if (ShownAs(view.spec, child) == Shown::kAbsent) return Status(Code::kNotFound, "absent in view " + view.text);
  return child;
}

Result<std::string> ViewTree::NameOf(const View& view, const Entry& entry) {
  if (ShownAs(view.spec, entry) == Shown::kAbsent) return Status(Code::kNotFound, "absent in view " + view.text);
  if (!view.spec.renames()) return std::string(entry.name);
  AUGUR_TRY_ASSIGN(directory, store_->Get(entry.parent));
  AUGUR_TRY_ASSIGN(names, folders_.Get(view, directory));
  std::string name = names->NameOf(entry.number - directory.offset);
  if (name.empty()) return Status(Code::kNotFound, "its name would be too long in view " + view.text);
  return name;
}

Status ViewTree::List(const View& view, const Entry& directory, uint64_t position, const Take& take) {
  std::shared_ptr<const ViewNames> names;
  if (view.spec.renames() && position < directory.size) {
    AUGUR_TRY_ASSIGN(found, folders_.Get(view, directory));
    names = std::move(found);
  }
  for (; position < directory.size; ++position) {
    AUGUR_TRY_ASSIGN(child, store_->Child(directory, position));
    if (ShownAs(view.spec, child) == Shown::kAbsent) continue;
    const std::string renamed = names != nullptr ? names->NameOf(position) : std::string();
    if (names != nullptr && renamed.empty()) continue;  // too long
    if (!take(names != nullptr ? std::string_view(renamed) : child.name, child, position)) break;
  }
  return Status::Ok();
}

}  // namespace augur
