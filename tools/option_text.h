// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/options.h"

namespace augur {

// Pieces of text that help, man page and error messages share.

// The size as one would type it: "1G", "1536K", "513".
std::string SizeText(uint64_t bytes);

// The option as one would type it: "--shard-size SIZE", "--quiet", "-o memory=SIZE", "-o allow_other". A short name
// is left out.
std::string OptionForm(const Option& option);

// The option without its value: "--shard-size", "-o memory".
std::string OptionName(const Option& option);

// What values are accepted and the default: "4K to 16T, default 1G", "none or open, default none". Of choices that have
// texts of their own, the default alone. Empty for a flag, and for free text without default.
std::string OptionLimits(const Option& option);

// "augurpack create [options] SRC STORE"; for a program with subcommands and no `command`, "augurpack COMMAND [options]
// ...".
std::string UsageLine(const Program& program, const Command* command);

// --help, --version and -h, which every command has.
const std::vector<Option>& CommonOptions();

// Words of a sentence: "stop or skip", "first, last or error".
std::string Alternatives(const std::vector<std::string_view>& words);

// The text with a capital first letter.
std::string Sentence(std::string_view text);

// Breaks `text` at spaces into lines of at most `columns`, each with `indent` spaces before it. A newline in the text
// stays one. Where a line of the text begins with spaces, as a row of a list does, lines broken off it have two more.
// Ends with a newline unless `text` is empty.
std::string Wrap(std::string_view text, size_t indent, size_t columns = 79);

}  // namespace augur
