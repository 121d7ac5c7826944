// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "augur/status.h"

namespace augur {

// The keys of a section, in lower case. A key with a block of indented lines below it has them as its value, each
// behind a line feed.
using IniSection = std::map<std::string, std::string, std::less<>>;
using IniSections = std::map<std::string, IniSection, std::less<>>;

// Reads an INI file as Python's configparser.RawConfigParser does, by which AWS's own programs read theirs:
//   1. "[name]" begins a section. "key = value" and "key: value" are alike.
//   2. A line that begins with '#' or ';', also after blanks, is a comment. There are none behind a value.
//   3. A line that is indented deeper than its key belongs to that key's value.
// kInvalid with the line's number: a line that is nothing of this, a section or key that is there twice, bytes of value
// zero. No error repeats a value, which may be a secret.
Result<IniSections> ParseIni(std::string_view text);

// The keys of an indented block ("\nendpoint_url = ..."), as botocore reads its one level of them. Lines without '='
// are left out.
IniSection ParseIniBlock(std::string_view value);

}  // namespace augur
