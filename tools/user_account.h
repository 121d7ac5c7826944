// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "base/capabilities.h"

namespace augur {

// The user of this name or number, with all their groups, from the system's lists. kInvalid: there is none.
Result<User> FindUser(const std::string& name);

}  // namespace augur
