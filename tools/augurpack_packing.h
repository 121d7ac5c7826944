// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augur/status.h"
#include "tools/augurpack_options.h"
#include "tools/options.h"

namespace augur {

// The commands of augurpack that write a store, and the options given to each.
Command CreateCommand();
Command AppendCommand();
Command AdoptCommand();
// kInvalid: the view of --decode is none.
Result<CreateOptions> ReadCreate(const Values& values);
AppendOptions ReadAppend(const Values& values);
AdoptOptions ReadAdopt(const Values& values);

}  // namespace augur
