// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/options.h"

namespace augur {

// Scripts that complete the program's commands, options, choices and mount options in a shell; arguments are completed
// as files.
std::string BashCompletions(const Program& program);
std::string ZshCompletions(const Program& program);

}  // namespace augur
