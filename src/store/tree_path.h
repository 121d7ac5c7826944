// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "augur/status.h"

namespace augur {

// A path key is a path whose '/' are NUL bytes. Names have no NUL, so comparing keys as bytes is path order
// (FORMAT.md section 5), and everything below a folder follows it at once.

// kInvalid, with the path and its defect, unless it is a path that a store can hold (FORMAT.md sections 5 and 8). The
// root, "", is.
Status CheckPath(std::string_view path);

// The key as a path. REQUIRES: key was made from a path.
std::string PathOfKey(std::string_view key);

// The key of the folder that has the entry of this key; "" for an entry in the root, and for the root itself.
std::string_view ParentKey(std::string_view key);

// The last component.
std::string_view NameOfKey(std::string_view key);

// True when `key` names something in the folder `folder`, or deeper below it.
bool IsBelow(std::string_view key, std::string_view folder);

}  // namespace augur
