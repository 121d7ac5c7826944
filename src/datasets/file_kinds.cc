// SPDX-License-Identifier: Apache-2.0
#include "datasets/file_kinds.h"

#include <algorithm>
#include <array>

#include "datasets/sample_rule.h"

namespace augur {
namespace {

constexpr size_t kUnnamedMax = 120;     // kinds; leaves as many for the suffixes that rules name
constexpr size_t kSuffixBytesMax = 24;  // longer ones are no extensions
constexpr uint8_t kNone = 0;            // number of the kind of names without a suffix
constexpr uint8_t kNoneHidden = 1;

constexpr auto kBareWords =
    std::to_array<std::string_view>({"jpeg", "webp", "tiff", "jpg", "png", "bmp", "ppm", "tif"});

bool EndsWithFolded(std::string_view name, std::string_view word) {
  return name.size() >= word.size() && FoldAscii(name.substr(name.size() - word.size())) == word;
}

// What lies before the suffix of a name with a dot does not count, but for two bits.
std::string KeyOf(const FileKind& kind) {
  return kind.suffix + (kind.hidden ? "/h" : "/") + (kind.only_dots ? "o" : "");
}

}  // namespace

FileKind KindOfName(std::string_view name) {
  FileKind kind;
  kind.hidden = name.starts_with('.');
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos) {
    kind.only_dots = name.find_first_not_of('.') >= dot;
    if (name.size() - dot <= kSuffixBytesMax) kind.suffix = name.substr(dot);
    return kind;
  }
  for (const std::string_view word : kBareWords) {
    if (!EndsWithFolded(name, word)) continue;
    kind.suffix = name.substr(name.size() - word.size());
    break;
  }
  return kind;
}

FileKinds::FileKinds() : kinds_{{}, {.suffix = "", .hidden = true}} {
  numbers_ = {{KeyOf(kinds_[kNone]), kNone}, {KeyOf(kinds_[kNoneHidden]), kNoneHidden}};
}

uint8_t FileKinds::Number(std::string_view name) {
  const FileKind kind = KindOfName(name);
  if (kind == kinds_[last_]) return last_;
  const auto found = numbers_.find(KeyOf(kind));
  if (found != numbers_.end()) return last_ = found->second;
  const bool named = IsNamedExtension(kind.suffix);
  if (kinds_.size() == kFolder || (!named && unnamed_ == kUnnamedMax)) return kind.hidden ? kNoneHidden : kNone;
  if (!named) ++unnamed_;
  last_ = static_cast<uint8_t>(kinds_.size());
  kinds_.push_back(kind);
  numbers_.emplace(KeyOf(kind), last_);
  return last_;
}

std::optional<uint8_t> FileKinds::Find(std::string_view name) const {
  const auto found = numbers_.find(KeyOf(KindOfName(name)));
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

}  // namespace augur
