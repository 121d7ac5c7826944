// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"

namespace augur {

// The folder of a class: its name, and a number with zeros in front, so that folders are in the order of the numbers.
// kInvalid, with no context: no folder can have this name.
Result<std::string> ClassFolder(std::string name);

}  // namespace augur
