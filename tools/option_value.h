// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "augur/status.h"
#include "tools/options.h"

namespace augur {

// Reads `text` as a value of `option` into `value`: a number or a text is replaced, a list grows. kInvalid: it breaks
// the option's kind, limits or choices; the text names the option and echoes what was typed and what is accepted.
Status ReadValue(const Option& option, std::string_view text, Value& value);

}  // namespace augur
