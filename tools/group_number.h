// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "augur/status.h"

namespace augur {

// The number of a group that is given by its name, or as a number (which need not have a name). kInvalid: there is no
// group of that name.
Result<gid_t> GroupNumber(const std::string& group);

}  // namespace augur
