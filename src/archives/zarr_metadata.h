// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "views/view_spec.h"

namespace augur {

// What the metadata files of Zarr say of an array.
struct ZarrArray {
  enum class Type { kU8, kF32, kI64 };

  std::string name;
  Type type = Type::kU8;
  std::vector<uint64_t> shape;
  std::vector<uint64_t> chunk;        // of a file
  std::vector<uint64_t> inner_chunk;  // version 3: files are shards of such chunks; empty: they are not
  std::vector<std::string> classes;   // an attribute; empty: there is none
};

// The files of a group with these arrays. Of the arrays in their order; version 3 has no attributes and no
// consolidated file of their own.
struct ZarrTexts {
  std::string group;
  std::string consolidated;
  std::vector<std::string> arrays;
  std::vector<std::string> attributes;
};
// Bytes of names that are no UTF-8 become U+FFFD.
ZarrTexts MakeZarrTexts(ZarrFormat format, const std::vector<ZarrArray>& arrays);

}  // namespace augur
