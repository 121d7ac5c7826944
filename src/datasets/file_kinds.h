// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace augur {

// What the rules of data loaders look at in the name of a file.
struct FileKind {
  // From the last dot on (".jpg"). Of a name without a dot, the longest of these words that it ends with: "jpg",
  // "jpeg", "png", "bmp", "ppm", "tif", "tiff", "webp". Some rules ask for these without a dot. Else empty, and so
  // where it would be over 24 bytes.
  std::string suffix;
  bool hidden = false;     // the name begins with a dot
  bool only_dots = false;  // before the last dot there are at most dots: os.path.splitext finds no extension
  bool operator==(const FileKind&) const = default;
};

FileKind KindOfName(std::string_view name);

// FileKinds numbers the kinds that occur in a tree, so that a file's takes one byte. When there are more kinds than
// numbers, the rarer suffixes (those that no rule of ours names) count as none. One thread at a time while it is
// filled; safe from any thread then.
class FileKinds {
 public:
  static constexpr uint8_t kFolder = 254;  // numbers that are not of files
  static constexpr uint8_t kLink = 255;

  FileKinds();

  // The number of the name's kind.
  uint8_t Number(std::string_view name);
  // The same for one that may not have come yet, or was not given a number of its own: none then.
  std::optional<uint8_t> Find(std::string_view name) const;

  // By number.
  const std::vector<FileKind>& kinds() const { return kinds_; }

 private:
  std::vector<FileKind> kinds_;
  std::unordered_map<std::string, uint8_t> numbers_;  // by KeyOf
  uint8_t last_ = 0;                                  // number of the last one asked for: most files are alike
  size_t unnamed_ = 0;                                // kinds of suffixes that no rule names
};

}  // namespace augur
