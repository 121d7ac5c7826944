// SPDX-License-Identifier: Apache-2.0
#include "archives/archive_names.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace augur {
namespace {

constexpr std::string_view kTarEnding = ".tar";
constexpr size_t kTarDigits = 6;

constexpr size_t kTfrecordDigits = 5;
constexpr std::string_view kOf = "-of-";

std::string TfrecordPrefix(const ArchiveSpec& spec) {
  return spec.keys == ExampleKeys::kTfds ? spec.name + "-" : std::string();
}
std::string_view TfrecordMiddle(const ArchiveSpec& spec) { return spec.keys == ExampleKeys::kTfds ? ".tfrecord" : ""; }

std::string Digits(uint32_t number, size_t count) {
  std::string digits = std::to_string(number);
  return std::string(count - std::min(count, digits.size()), '0') + digits;
}

// What the one archive of a folder, or the folder of its archives, ends with. Nothing: the kind has several.
std::string_view WholeEnding(ViewKind kind) {
  switch (kind) {
    case ViewKind::kMds: return ".mds";
    case ViewKind::kH5: return ".h5";
    case ViewKind::kZarr: return ".zarr";
    default: return {};
  }
}

std::optional<ArchiveName> ParseTfrecordName(const ArchiveSpec& spec, std::string_view text) {
  ArchiveName name;
  name.is_index = text.ends_with(kIndexEnding);
  if (name.is_index) text.remove_suffix(kIndexEnding.size());
  const std::string prefix = TfrecordPrefix(spec);
  const std::string_view middle = TfrecordMiddle(spec);
  const size_t tail_bytes = middle.size() + 1 + kTfrecordDigits + kOf.size() + kTfrecordDigits;
  if (text.size() <= prefix.size() + tail_bytes || !text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  name.folder = text.substr(0, text.size() - tail_bytes);
  text.remove_prefix(name.folder.size());
  if (!text.starts_with(middle)) return std::nullopt;
  text.remove_prefix(middle.size());
  const std::optional<uint32_t> shard = ReadDigits(text.substr(1, kTfrecordDigits));
  const std::optional<uint32_t> shards = ReadDigits(text.substr(text.size() - kTfrecordDigits));
  if (text[0] != '-' || text.substr(1 + kTfrecordDigits, kOf.size()) != kOf || !shard || !shards) return std::nullopt;
  name.shard = *shard;
  name.shards = *shards;
  return name;
}

}  // namespace

std::optional<uint32_t> ReadDigits(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string NameOfArchive(const ViewSpec& spec, const ArchiveName& name) {
  const std::string folder(name.folder);
  if (const std::string_view ending = WholeEnding(spec.kind); !ending.empty()) return folder + std::string(ending);
  if (spec.kind == ViewKind::kTar) return folder + "-" + Digits(name.shard, kTarDigits) + std::string(kTarEnding);
  AUGUR_CHECK(spec.kind == ViewKind::kTfrecord);
  return TfrecordPrefix(spec.archive) + folder + std::string(TfrecordMiddle(spec.archive)) + "-" +
         Digits(name.shard, kTfrecordDigits) + std::string(kOf) + Digits(name.shards, kTfrecordDigits) +
         std::string(name.is_index ? kIndexEnding : "");
}

std::optional<ArchiveName> ParseArchiveName(const ViewSpec& spec, std::string_view text) {
  if (spec.kind == ViewKind::kTfrecord) return ParseTfrecordName(spec.archive, text);
  if (const std::string_view ending = WholeEnding(spec.kind); !ending.empty()) {
    if (text.size() <= ending.size() || !text.ends_with(ending)) return std::nullopt;
    return ArchiveName{.folder = text.substr(0, text.size() - ending.size())};
  }
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
