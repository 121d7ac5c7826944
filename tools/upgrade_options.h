// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "tools/options.h"

namespace augur {

// Which mount options the next daemon of a mount may have instead of those of the one before, and how they travel.
// These are memory, cache-size, predict and log; at a reload also generation and root-hash. All others say what the
// mount is, which cannot change under its readers. Pure.

enum class HandOverKind { kRestart, kReload };

// `values` are those of the daemon that serves, `words` the changes, such as "memory=1G"; `generation` is what the
// mount shows next, unless a word says otherwise. Returns all that can change and is given then, as one text of -o.
// kInvalid: a word names another option, or its value is wrong; names it, and those that can change.
Result<std::string> UpgradeOptions(const Values& values, std::span<const std::string> words, HandOverKind kind,
                                   uint64_t generation);
// Which generation the words name; 0: none.
uint64_t GenerationIn(std::span<const std::string> words);

// The command line, without the program's name, of a daemon with `values` and such a text. kInvalid: as above.
Result<std::vector<std::string>> UpgradeCommandLine(const Values& values, const std::string& options);

}  // namespace augur
