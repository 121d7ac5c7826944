// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>

namespace augur {

// Puts the components of a path before the rest of a walk, without those that are empty or ".".
inline void PushParts(std::string_view path, std::deque<std::string>* rest) {
  std::deque<std::string> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (end > 0 && path.substr(0, end) != ".") parts.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  rest->insert(rest->begin(), parts.begin(), parts.end());
}

}  // namespace augur
