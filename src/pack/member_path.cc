// SPDX-License-Identifier: Apache-2.0
#include "pack/member_path.h"

#include <algorithm>

#include "base/units.h"

namespace augur {

Result<std::string> MemberPath(std::string_view path) {
  std::string clean;
  size_t at = 0;
  while (at < path.size()) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view component = path.substr(at, end - at);
    at = end + 1;
    if (component.empty() || component == ".") continue;
    if (component == "..") return Status(Code::kInvalid, Printable(path) + ": has a '..' in it");
    if (!clean.empty()) clean.push_back('/');
    clean.append(component);
  }
  return clean;
}

}  // namespace augur
