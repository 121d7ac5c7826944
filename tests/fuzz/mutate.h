// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace augur {

// `file` broken in one to four places: bytes changed, the end cut off, pieces left out, doubled, exchanged, or taken
// from `other`. Half of the PNGs get checksums that fit again, so that what stands behind them is reached.
std::vector<std::byte> Mutate(std::vector<std::byte> file, const std::vector<std::byte>& other,
                              std::mt19937_64* random);

}  // namespace augur
