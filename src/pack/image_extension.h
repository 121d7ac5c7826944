// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace augur {

// The extension of an image file, by its first bytes: ".jpg", ".png", ".gif", ".bmp", ".webp" or ".tif". Empty: this is
// the beginning of none of them. 12 bytes are enough.
std::string_view ImageExtension(std::span<const std::byte> bytes);

}  // namespace augur
