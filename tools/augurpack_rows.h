// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/options.h"

namespace augur {

// Options that several commands of augurpack have.
Option Quiet();
Option Summary();
Option Threads();
void AddRemoteOptions(Command& command);

}  // namespace augur
