// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace augur {

// Packs `file` as a container of samples or as an archive, with its images where they are and by copy, into stores that
// are removed again. Aborts when a place that was found for an image is not in the file, or a failure has no text.
// Returns whether it could be packed by copy.
bool PackContainerOnce(std::span<const std::byte> file);

}  // namespace augur
