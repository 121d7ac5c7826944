// SPDX-License-Identifier: Apache-2.0
#include "remote/content_range.h"

#include <charconv>

namespace augur {
namespace {

// Takes a number and the character behind it off the front of `text`; '\0': the number ends the text.
bool TakeNumber(std::string_view& text, char behind, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (behind == '\0') return text.empty();
  if (!text.starts_with(behind)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string RangeHeader(uint64_t begin, uint64_t bytes) {
  return "bytes=" + std::to_string(begin) + "-" + std::to_string(begin + bytes - 1);
}

std::optional<ContentRange> ParseContentRange(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  ContentRange range;
  uint64_t last = 0;
  if (!TakeNumber(text, '-', range.begin) || !TakeNumber(text, '/', last) || last < range.begin) return std::nullopt;
  range.bytes = last - range.begin + 1;
  if (text == "*") return range;
  uint64_t total = 0;
  if (!TakeNumber(text, '\0', total) || total <= last) return std::nullopt;
  range.total = total;
  return range;
}

}  // namespace augur
