// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/hdf5_object.h"

namespace augur {

// A name in a group, and the object that it stands for.
struct Hdf5Link {
  std::string name;
  uint64_t address = 0;
};

// Whether an object with these messages is a group.
bool IsHdf5Group(const std::vector<Hdf5Message>& messages);

// The names in the group with these messages, in their order there: that of a symbol table, or of messages. Links to
// paths and to other files are left out. kCorrupt: broken, or its tree leads in a circle. kUnsupported: a group whose
// names are in a fractal heap, as large groups have them in files of libver='latest'. Memory: the names.
Result<std::vector<Hdf5Link>> ReadHdf5Links(const Hdf5Reader& reader, const std::vector<Hdf5Message>& messages);

}  // namespace augur
