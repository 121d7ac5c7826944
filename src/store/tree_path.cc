// SPDX-License-Identifier: Apache-2.0
#include "store/tree_path.h"

#include <algorithm>

#include "base/units.h"
#include "store/format.h"

namespace augur {
namespace {

Status BadPath(std::string_view path, const char* defect) {
  return {Code::kInvalid, "'" + Printable(path.substr(0, 200)) + (path.size() > 200 ? "...': " : "': ") + defect};
}

}  // namespace

Status CheckPath(std::string_view path) {
  if (path.empty()) return Status::Ok();
  if (path.size() > format::kPathBytesMax) return BadPath(path, "the path is longer than 4,095 bytes");
  if (path.find('\0') != std::string_view::npos) return BadPath(path, "the path has a NUL byte");
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = path.substr(begin, end - begin);
    if (name.empty()) return BadPath(path, "the path has an empty component (a '/' at an end, or two in a row)");
    if (name == "." || name == "..") return BadPath(path, "the path has a component '.' or '..'");
    if (name.size() > format::kNameBytesMax) return BadPath(path, "a name in the path is longer than 255 bytes");
    begin = end + 1;
  }
  return Status::Ok();
}

std::string PathOfKey(std::string_view key) {
  std::string path(key);
  std::replace(path.begin(), path.end(), '\0', '/');
  return path;
}

std::string_view ParentKey(std::string_view key) {
  const size_t end = key.rfind('\0');
  return end == std::string_view::npos ? std::string_view() : key.substr(0, end);
}

std::string_view NameOfKey(std::string_view key) {
  const size_t end = key.rfind('\0');
  return end == std::string_view::npos ? key : key.substr(end + 1);
}

bool IsBelow(std::string_view key, std::string_view folder) {
  if (folder.empty()) return !key.empty();
  return key.size() > folder.size() && key.starts_with(folder) && key[folder.size()] == '\0';
}

}  // namespace augur
