// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace augur {

// Puts `file` through what is done with a file from outside: measured, decoded, made smaller, rendered as a file of a
// view, each of the options and views taken in turn by the file's bytes. Aborts when they contradict each other.
// Returns whether it was an image.
bool DecodeOnce(std::span<const std::byte> file);

}  // namespace augur
