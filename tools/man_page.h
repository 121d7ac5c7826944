// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/options.h"

namespace augur {

// The manual page of a program, subcommands and all, as troff for man(7).
std::string ManPage(const Program& program);

}  // namespace augur
