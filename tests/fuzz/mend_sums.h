// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace augur {

// Makes the checksums of a damaged container fit again, so that what stands behind them is reached: those of the frames
// of a TFRecord file, whose lengths are made to fit as well, and of the headers of a tar. `was` is the file before the
// damage, which says what it is. Does nothing with other containers.
void MendSums(std::span<const std::byte> was, std::span<std::byte> file);

}  // namespace augur
