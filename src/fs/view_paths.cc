// SPDX-License-Identifier: Apache-2.0
#include "fs/view_paths.h"

#include <utility>

#include "fs/virtual_folder.h"
#include "views/view_spec.h"

namespace augur {

ViewPaths::ViewPaths(std::shared_ptr<const Store> store) : store_(store), tree_(std::move(store)) {}

Status ViewPaths::SelectView(uint32_t number, std::string_view spec, bool is_root) {
  selected_ = number;
  if (number == 0 || places_.contains(number)) return Status::Ok();
  AUGUR_TRY_ASSIGN(parsed, ParseViewSpec(spec));
  Place place;
  place.view = std::make_unique<const View>(
      View{.number = number, .spec = parsed, .text = std::string(spec), .counts = nullptr});
  if (!is_root)
    place.prefix = std::string(VirtualFolder::kName) + "/" + std::string(kViewsFolderName) + "/" + std::string(spec);
  if (places_.size() == ViewTable::kViewsMax) places_.erase(places_.begin());  // the oldest: the mount has no more
  places_.emplace(number, std::move(place));
  return Status::Ok();
}

Result<std::string> ViewPaths::PathOf(EntryNumber entry) {
  if (selected_ == 0) return store_->PathOf(entry);
  const auto at = places_.find(selected_);
  if (at == places_.end()) return Status(Code::kNotFound, "no such view");
  const Place& place = at->second;
  if (entry == 0) return place.prefix;
  AUGUR_TRY_ASSIGN(own, store_->Get(entry));
  AUGUR_TRY_ASSIGN(folder, store_->PathOf(own.parent));
  AUGUR_TRY_ASSIGN(name, tree_.NameOf(*place.view, own));
  std::string path = place.prefix;
  for (const std::string& part : {folder, name}) {
    if (!path.empty() && !part.empty()) path += '/';
    path += part;
  }
  return path;
}

Result<EntryNumber> ViewPaths::FileIn(uint32_t view, EntryNumber folder, std::string_view name) {
  AUGUR_TRY_ASSIGN(parent, store_->Get(folder));
  const auto place = places_.find(view);
  if (view != 0 && place == places_.end()) return Status(Code::kNotFound, "no such view");
  AUGUR_TRY_ASSIGN(file, view == 0 ? store_->Lookup(parent, name) : tree_.Lookup(*place->second.view, parent, name));
  if (file.type != EntryType::kFile) return Status(Code::kNotFound, "not a file");
  return static_cast<EntryNumber>(file.number);
}

}  // namespace augur
