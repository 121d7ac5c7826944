// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "tools/options.h"

namespace augur {

// The words of a comma-separated -o argument, empty ones left out; "\," is a comma within a word and "\\" a backslash.
std::vector<std::string> SplitMountOptions(std::string_view text);

// Reads one word of -o by the table of `command` into `values`; words that mount(8) and fstab put there and that mean
// nothing to `program` are passed over. kInvalid: an unknown word, or a wrong value.
Status ReadMountOption(const Program& program, const Command& command, std::string_view word, Values& values);

}  // namespace augur
