// SPDX-License-Identifier: Apache-2.0
#include "archives/archive_names.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace augur {
namespace {

constexpr std::string_view kTarEnding = ".tar";
constexpr size_t kTarDigits = 6;

std::string Digits(uint32_t number, size_t count) {
  std::string digits = std::to_string(number);
  return std::string(count - std::min(count, digits.size()), '0') + digits;
}

// The number of exactly so many digits.
std::optional<uint32_t> ReadDigits(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string NameOfArchive(const ViewSpec& spec, const ArchiveName& name) {
  AUGUR_CHECK(spec.kind == ViewKind::kTar);
  return std::string(name.folder) + "-" + Digits(name.shard, kTarDigits) + std::string(kTarEnding);
}

std::optional<ArchiveName> ParseArchiveName(const ViewSpec& spec, std::string_view text) {
  AUGUR_CHECK(spec.kind == ViewKind::kTar);
  constexpr size_t kTail = 1 + kTarDigits + kTarEnding.size();
  if (text.size() <= kTail || !text.ends_with(kTarEnding)) return std::nullopt;
  const std::string_view folder = text.substr(0, text.size() - kTail);
  const std::string_view tail = text.substr(folder.size());
  const std::optional<uint32_t> shard = ReadDigits(tail.substr(1, kTarDigits));
  if (tail[0] != '-' || !shard) return std::nullopt;
  return ArchiveName{.folder = folder, .shard = *shard};
}

}  // namespace augur
