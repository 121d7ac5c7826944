// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "fuse/holder_link.h"

namespace augur {

// A daemon that is not a fork of its Holder but executes another program gets by number what a fork inherits. The
// numbers are in the first word of its command line, which no user types.
struct Inherited {
  HolderLink::Task task = HolderLink::Task::kGoOn;
  int link = -1;    // the socket of HolderLink
  int device = -1;  // of /dev/fuse
  int state = -1;   // of LastingState
  int errors = -1;  // where stderr leads once the daemon is prepared; -1: where it does now
};

std::string InheritedWord(const Inherited& inherited);
// nullopt: `word` is another one. kInvalid: it names what no holder hands down.
Result<std::optional<Inherited>> ReadInheritedWord(std::string_view word);
// What a HolderLink has for such a daemon. As LastingState::Open.
Result<HolderLink> LinkOf(const Inherited& inherited);

// Executes the program that `file` is open on, under the name `path`, with the word above and `words` as its arguments.
// It gets the standard streams and these descriptors, and no other. For a forked process, which may allocate. Returns
// only when the program cannot be executed, with the cure.
Status ExecuteProgram(int file, const std::string& path, const Inherited& inherited,
                      std::span<const std::string> words);

}  // namespace augur
