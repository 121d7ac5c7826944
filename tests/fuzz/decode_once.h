// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace augur {

// Puts `file` through what is done with a file from outside: measured, decoded, made smaller, each of the options taken
// in turn by the file's bytes. Aborts when they contradict each other. Returns whether it was an image.
bool DecodeOnce(std::span<const std::byte> file);

}  // namespace augur
