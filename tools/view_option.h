// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "augur/status.h"
#include "tools/options.h"
#include "views/view_spec.h"

namespace augur {

// The SPEC that an option has. kInvalid: it is none; said after `prefix`, in one line.
Result<ViewSpec> ReadView(const std::string& prefix, std::string_view text);

// The rows of augurfs for views: -o view and -o decode-threads.
Option ViewRow();
Option DecodeThreadsRow();

}  // namespace augur
