// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augur/status.h"
#include "tools/augurpack_options.h"
#include "tools/options.h"

namespace augur {

// The options of augurpack create for views.
Option DecodeRow();
Option WholeViewRow();
Option IndexesRow();
// Reads the values given for them. kInvalid: the view is none, or an option means nothing without another one.
Status ReadDecode(const Values& values, CreateOptions& options);

}  // namespace augur
