// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace augur {

// The names of one folder in a view that renames images: `x.JPEG` is `x.npy`, both ways. VIEWS.md has the rule; no two
// names are ever equal, and what a name becomes depends on the names of its folder alone, not on their order. Names are
// bytes.
//
// Constant after construction, safe from any thread. Keeps the given names where they are: their bytes must outlive it
// (those of a Store do). 41 to 50 bytes a name beside them, twice that while it is made; time linear in the names, and
// constant for a question.
class ViewNames {
 public:
  // One entry of the folder, of any type.
  struct Original {
    std::string_view name;
    std::string_view ending;  // of an image: what it is in the view, ".npy"; empty: its name stays
  };

  // A name of more bytes than this exists in no folder.
  static constexpr size_t kNameBytesMax = 255;

  // `originals` has every entry of the folder, those too that the view does not show: nothing takes their names.
  // REQUIRES: names are different and not empty, fewer than 2^31; endings have 4 bytes or none.
  explicit ViewNames(std::vector<Original> originals);

  size_t size() const { return originals_.size(); }

  // Of the entry at `index` of what was given. Empty: the name would be above kNameBytesMax; the view cannot show it.
  std::string NameOf(size_t index) const;

  // The entry that has this name in the view. None: no entry has.
  std::optional<size_t> Find(std::string_view view_name) const;

 private:
  class Maker;

  // How an entry is named.
  static constexpr uint8_t kOwn = 0;        // as it was
  static constexpr uint8_t kTooLong = 255;  // not at all
  static constexpr uint8_t kShort = 254;    // the ending instead of its last one
  // 1 to 63: the whole name and so many times the ending.

  bool HasName(size_t index, std::string_view view_name) const;

  std::vector<Original> originals_;
  std::vector<uint8_t> forms_;     // of each entry
  std::vector<uint32_t> by_name_;  // hash table of the names in the view
};

}  // namespace augur
