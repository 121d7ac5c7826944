// SPDX-License-Identifier: Apache-2.0
#include "pack/shallow_json.h"

#include <algorithm>

namespace augur {
namespace {

constexpr size_t kJsonDepthMax = 100;

// How deep the brackets outside of strings nest, at most. Of a text that is no JSON, any number.
size_t DepthOf(std::string_view text) {
  size_t depth = 0;
  size_t depth_max = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '[' || c == '{') depth_max = std::max(depth_max, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return depth_max;
}

}  // namespace

nlohmann::json ParseShallowJson(std::string_view text) {
  if (DepthOf(text) > kJsonDepthMax) return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace augur
