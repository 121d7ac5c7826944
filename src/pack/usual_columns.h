// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace augur {

// What the columns of tables of images are usually called, the more usual ones first.
inline constexpr std::array<std::string_view, 5> kUsualNameColumns = {"file_name", "filename", "name", "path", "key"};
inline constexpr std::array<std::string_view, 6> kUsualLabelColumns = {"label",    "class",  "cls",
                                                                       "class_id", "target", "y"};

}  // namespace augur
