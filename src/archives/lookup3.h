// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace augur {

// Bob Jenkins' hashlittle of lookup3 with the initial value 0, with which HDF5 checks its metadata. Any thread.
// Source: burtleburtle.net/bob/hash/doobs.html and its lookup3.c; HDF5's H5checksum.c.
uint32_t Lookup3(std::string_view bytes);

}  // namespace augur
