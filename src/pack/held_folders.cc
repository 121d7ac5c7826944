// SPDX-License-Identifier: Apache-2.0
#include "pack/held_folders.h"

#include "base/units.h"

namespace augur {

Status HeldFolders::Add(const std::string& path, const Attributes& attributes) {
  if (!hold_ || used_.contains(path)) return writer_.AddDirectory(path, attributes);
  held_[path] = attributes;
  return {};
}

Status HeldFolders::CheckUsed(const std::string& source) const {
  if (!hold_ || !used_.empty()) return {};
  return {Code::kNotFound, Printable(source) +
                               ": no file in it matches --include: a pattern with a '/' is matched "
                               "against the whole path, one without against the name"};
}

Status HeldFolders::Release(std::string_view path) {
  if (!hold_) return {};
  for (std::string_view folder = path; !folder.empty();) {
    const size_t slash = folder.rfind('/');
    folder = slash == std::string_view::npos ? std::string_view() : folder.substr(0, slash);
    const auto [used, is_new] = used_.emplace(folder);
    if (!is_new) return {};  // and so were those above it
    const auto held = held_.find(*used);
    if (held == held_.end()) continue;
    AUGUR_TRY(writer_.AddDirectory(held->first, held->second));
    held_.erase(held);
  }
  return {};
}

}  // namespace augur
