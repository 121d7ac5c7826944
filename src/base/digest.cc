// SPDX-License-Identifier: Apache-2.0
#include "augur/digest.h"

#include <string_view>

namespace augur {
namespace {

int ValueOf(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

}  // namespace

std::string HexOf(const Digest& digest) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : digest.bytes) {
    text.push_back(kDigits[std::to_integer<size_t>(byte >> 4)]);
    text.push_back(kDigits[std::to_integer<size_t>(byte & std::byte{15})]);
  }
  return text;
}

std::optional<Digest> ParseDigest(std::string_view text) {
  Digest digest;
  if (text.size() != 2 * digest.bytes.size()) return std::nullopt;
  for (size_t i = 0; i < digest.bytes.size(); ++i) {
    const int high = ValueOf(text[2 * i]);
    const int low = ValueOf(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest.bytes[i] = static_cast<std::byte>(high * 16 + low);
  }
  return digest;
}

}  // namespace augur
