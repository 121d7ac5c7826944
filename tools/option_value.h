// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "tools/options.h"

namespace augur {

// Reads `text` as a value of `option` into `value`: a number or a text is replaced, a list grows. kInvalid: it breaks
// the option's kind, limits or choices; the text names the option, echoes the typed value and says which are accepted.
Status ReadValue(const Option& option, std::string_view text, Value& value);

// The inverse: the words "name=value" that give an option this value; for a list any number, for a flag its name.
std::vector<std::string> AssignmentsOf(const Option& option, const Value& value);

}  // namespace augur
