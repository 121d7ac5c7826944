// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace augur {

// The parts between the separators, empty ones too; they point into `text`.
std::vector<std::string_view> Split(std::string_view text, char separator);

// A field of a mountinfo row as it was before the kernel escaped it. The kernel writes space, tab, newline and
// backslash (and '#' in sources) as a backslash and three octal digits (proc(5); fs/proc_namespace.c, mangle).
std::string UnescapeMountField(std::string_view text);

}  // namespace augur
