// SPDX-License-Identifier: Apache-2.0
#include "datasets/file_path.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace augur {
namespace {

constexpr int kLinksMax = 40;  // as in the kernel (MAXSYMLINKS)

// Takes the first component off a path; empty when none is left.
std::string_view TakeComponent(std::string_view* path) {
  const size_t begin = std::min(path->find_first_not_of('/'), path->size());
  path->remove_prefix(begin);
  const std::string_view component = path->substr(0, path->find('/'));
  path->remove_prefix(component.size());
  return component;
}

}  // namespace

Result<Entry> FindFileOrFolder(const Store& store, std::string_view path, const FindChild& find_child) {
  std::vector<Entry> way;  // from the root to where we are
  AUGUR_TRY_ASSIGN(root, store.Get(0));
  way.push_back(root);
  std::string replaced;  // what is left of the path when a link has been followed; `path` points into it
  int links = 0;
  for (std::string_view name = TakeComponent(&path); !name.empty(); name = TakeComponent(&path)) {
    if (way.back().type != EntryType::kDirectory) return Status(Code::kNotFound, "no such file in the mount");
    if (name == ".") continue;
    if (name == "..") {
      if (way.size() == 1) return Status(Code::kInvalid, "it leads out of the mount");
      way.pop_back();
      continue;
    }
    Result<Entry> child = find_child ? find_child(way.back(), name) : store.Lookup(way.back(), name);
    if (!child.ok()) {
      if (child.status().code() != Code::kNotFound) return child.status();
      return Status(Code::kNotFound, links == 0 ? "no such file in the mount" : "a symbolic link that leads nowhere");
    }
    if (child->type != EntryType::kSymlink) {
      way.push_back(*child);
      continue;
    }
    if (++links > kLinksMax) return Status(Code::kInvalid, "too many symbolic links, or a circle of them");
    AUGUR_TRY_ASSIGN(target, store.LinkTarget(*child));
    if (target.starts_with('/')) {
      return Status(Code::kInvalid, "a symbolic link out of the mount, to " + Printable(target));
    }
    std::string rest = std::string(target) + "/" + std::string(path);
    replaced = std::move(rest);
    path = replaced;
  }
  return way.back();
}

Result<Entry> FindFile(const Store& store, std::string_view path, const FindChild& child) {
  AUGUR_TRY_ASSIGN(entry, FindFileOrFolder(store, path, child));
  if (entry.type == EntryType::kDirectory) return Status(Code::kInvalid, "a folder, not a file");
  return entry;
}

}  // namespace augur
