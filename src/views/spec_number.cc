// SPDX-License-Identifier: Apache-2.0
#include "views/spec_number.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace augur {
namespace {

constexpr size_t kCharactersMax = 24;
constexpr int kDigitsMax = kCharactersMax - 2;  // behind "0."

bool AllDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<float> ParseSpecNumber(std::string_view text) {
  if (text.size() > kCharactersMax) return std::nullopt;
  const size_t point = text.find('.');
  if (!AllDigits(text.substr(0, point))) return std::nullopt;
  if (point != std::string_view::npos && !AllDigits(text.substr(point + 1))) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<float>(number);  // 24 digits are within float's range
}

std::string FormatSpecNumber(float number) {
  AUGUR_CHECK(number >= 0 && number <= 1);
  // With as many digits behind the point as it was read with, the nearest decimal is at least as near as that one was.
  for (int digits = 0; digits <= kDigitsMax; ++digits) {
    char text[64];
    const auto [end, error] =
        std::to_chars(text, text + sizeof text, static_cast<double>(number), std::chars_format::fixed, digits);
    AUGUR_CHECK(error == std::errc());
    const std::string_view formatted(text, static_cast<size_t>(end - text));
    if (ParseSpecNumber(formatted) == number) return std::string(formatted);
  }
  AUGUR_CHECK(false);
  return {};
}

}  // namespace augur
