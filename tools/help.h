// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/options.h"

namespace augur {

// -h: one line for each option. `command` is null for a program with subcommands as a whole.
std::string ShortHelp(const Program& program, const Command* command);

// --help: all that the table says.
std::string LongHelp(const Program& program, const Command* command);

}  // namespace augur
