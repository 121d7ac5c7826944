// SPDX-License-Identifier: Apache-2.0
#include "pack/class_folder.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "base/leading_zeros.h"
#include "base/units.h"

namespace augur {
namespace {

// ImageNet-21k has classes of five digits.
constexpr size_t kClassDigits = 6;
constexpr size_t kFolderNameBytesMax = 255;

bool IsNumber(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

Result<std::string> ClassFolder(std::string name) {
  if (IsNumber(name)) name = WithLeadingZeros(std::move(name), kClassDigits);
  if (name.find_first_of(std::string_view("/\0", 2)) != std::string::npos || name == "." || name == ".." ||
      name.size() > kFolderNameBytesMax) {
    return Status(Code::kInvalid, "its class '" + Printable(name) + "' cannot be the name of a folder");
  }
  return name;
}

}  // namespace augur
