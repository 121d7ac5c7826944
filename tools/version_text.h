// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/options.h"

namespace augur {

// --version: a line "augurpack 0.1.0", and a line each for the commit, the build and the libraries.
std::string VersionText(const Program& program);

}  // namespace augur
