// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace augur {

// Text that another process or a store gave, for a terminal. Control characters and bytes that are not printable UTF-8
// become \xHH, so that none of it moves the cursor or gives the terminal a command. Unlike Printable it leaves
// backslashes, as parts of the text may be escaped already.

// Text of many lines: line feeds stay.
std::string TerminalText(std::string_view text);

// Text of one line: line feeds are escaped, too.
std::string TerminalLine(std::string_view text);

}  // namespace augur
