// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace augur {

// Packs `file` as a container of samples, once with its images where they are and once by copy, into stores that are
// removed again. Aborts when a place that was found for an image is not in the file. Returns whether it could be
// packed.
bool PackContainerOnce(std::span<const std::byte> file);

}  // namespace augur
