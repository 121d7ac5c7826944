// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "augur/status.h"

namespace augur {

// The name without its last ending, as os.path.splitext has it: dots in front are no ending.
std::string_view StemOf(std::string_view name);

// The names of one folder in a view that renames images: `x.JPEG` is `x.npy`, both ways. VIEWS.md has the rule; no two
// names are ever equal, and what a name becomes depends on the names of its folder alone. Names are bytes.
//
// Constant after construction, safe from any thread where what it asks is. Keeps nothing: each question looks at the
// names around the one in question, which the order of the folder brings together. So a folder of any size costs no
// memory, and a question some 40 names, for log2 of the folder and the neighbours. Where many names begin with another
// one's stem and a dot (`x.1.JPEG`, `x.2.JPEG` beside `x.JPEG`), a question looks at kAlikeMax of them at the most.
class ViewNames {
 public:
  // The entries of the folder, of any type, in the order of their name bytes; those too that the view does not show:
  // nothing takes their names. The texts stay where they are as long as this is used. Names are different and not
  // empty; endings are empty, or begin with their only dot.
  struct Originals {
    uint64_t size = 0;
    std::function<Result<std::string_view>(uint64_t index)> name;
    // Of an image: what its name ends with in the view, ".npy"; empty: its name stays.
    std::function<Result<std::string_view>(uint64_t index)> ending;
  };

  // A name of more bytes than this exists in no folder.
  static constexpr size_t kNameBytesMax = 255;
  // Where more names of the folder than this begin with a stem and a dot, nothing has the short name of that stem. To
  // know whether one image alone wants it, all of them would have to be looked at.
  static constexpr uint64_t kAlikeMax = 256;

  explicit ViewNames(Originals originals) : originals_(std::move(originals)) {}

  uint64_t size() const { return originals_.size; }

  // Of the entry at `index`. Empty: the name would be above kNameBytesMax; the view cannot show it. Fails as Originals
  // does. REQUIRES: index < size().
  Result<std::string> NameOf(uint64_t index) const;

  // The entry that has this name in the view. None: no entry has. Fails as Originals does.
  Result<std::optional<uint64_t>> Find(std::string_view view_name) const;

 private:
  // How an entry is named.
  using Form = uint8_t;
  static constexpr Form kOwn = 0;        // as it was
  static constexpr Form kTooLong = 255;  // not at all
  static constexpr Form kShort = 254;    // the ending instead of its last one
  // 1 to 63: the whole name and that many times the ending.

  Result<uint64_t> LowerBound(std::string_view name, uint64_t near) const;
  Result<std::optional<uint64_t>> IndexOf(std::string_view name, uint64_t near) const;
  Result<bool> IsImage(uint64_t index) const;
  Result<bool> Wants(uint64_t index, std::string_view stem, std::string_view ending) const;
  Result<bool> AnotherWants(uint64_t index, std::string_view stem, std::string_view ending) const;
  Result<bool> MayBeShort(uint64_t index, std::string_view stem, std::string_view ending) const;
  Result<Form> FormOf(uint64_t index) const;
  Result<std::optional<uint64_t>> FindLong(std::string_view view_name, std::string_view ending, uint64_t near) const;
  Result<std::optional<uint64_t>> FindShort(std::string_view stem, std::string_view ending, uint64_t near) const;

  const Originals originals_;
};

}  // namespace augur
