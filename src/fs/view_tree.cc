// SPDX-License-Identifier: Apache-2.0
#include "fs/view_tree.h"

#include <optional>
#include <string>
#include <utility>

#include "views/render.h"

namespace augur {

Shown ShownAs(const View& view, const Entry& entry) {
  if (entry.type != EntryType::kFile) return Shown::kOriginal;
  switch (AppearanceOf(view.spec, entry.image)) {
    case Appearance::kAbsent: return Shown::kAbsent;
    case Appearance::kOriginal: return Shown::kOriginal;
    default: return Shown::kRendered;
  }
}

uint64_t ShownSize(const View& view, const Entry& entry) {
  return ShownAs(view, entry) == Shown::kRendered ? RenderedSize(view.spec, entry.image) : entry.size;
}

ViewTree::ViewTree(std::shared_ptr<const Store> store, uint64_t names_bytes_max)
    : store_(store), folders_(std::move(store), names_bytes_max) {}

Result<Entry> ViewTree::Lookup(const View& view, const Entry& directory, std::string_view name) {
  if (!view.renames()) return store_->Lookup(directory, name);  // pixels: nothing is absent
  AUGUR_TRY_ASSIGN(names, folders_.Get(view, directory));
  const std::optional<size_t> position = names->Find(name);
  if (!position) return Status(Code::kNotFound, "no such name in view " + view.text);
  AUGUR_TRY_ASSIGN(child, store_->Child(directory, *position));
  if (ShownAs(view, child) == Shown::kAbsent) return Status(Code::kNotFound, "absent in view " + view.text);
  return child;
}

Status ViewTree::List(const View& view, const Entry& directory, uint64_t position, const Take& take) {
  std::shared_ptr<const ViewNames> names;
  if (view.renames() && position < directory.size) {
    AUGUR_TRY_ASSIGN(found, folders_.Get(view, directory));
    names = std::move(found);
  }
  for (; position < directory.size; ++position) {
    AUGUR_TRY_ASSIGN(child, store_->Child(directory, position));
    if (ShownAs(view, child) == Shown::kAbsent) continue;
    const std::string renamed = names != nullptr ? names->NameOf(position) : std::string();
    if (names != nullptr && renamed.empty()) continue;  // too long
    if (!take(names != nullptr ? std::string_view(renamed) : child.name, child, position)) break;
  }
  return Status::Ok();
}

}  // namespace augur
