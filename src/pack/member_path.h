// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "augur/status.h"

namespace augur {

// The path of an archive's member as the store has it: relative, without '.', empty components, a leading or trailing
// '/'. Empty for the root ("./"). kInvalid, by name: a component '..', which would lead out of the tree.
Result<std::string> MemberPath(std::string_view path);

}  // namespace augur
