// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "augur/status.h"

namespace augur {

// Exit statuses of every program.
inline constexpr int kExitDone = 0;
inline constexpr int kExitNo = 1;     // a negative answer
inline constexpr int kExitError = 2;  // it could not be done

// Writes "program: text" and a newline to stderr. Any thread; a line is one write.
void PrintError(std::string_view program, const Status& status);
void PrintError(std::string_view program, std::string_view text);

// Prints the failure and returns kExitError. A text that ends in the system's own words gets what helps with them.
int Fail(std::string_view program, const Status& status);

// Whether the text ends in what the system says of this errno.
bool EndsInError(const Status& status, int error);

// ... of a disk without room, or of a quota that is used up.
bool IsDiskFull(const Status& status);

// What helps then.
inline constexpr std::string_view kMakeRoom = ": make room on that disk";

// Writes `text` to stdout. A reader that has gone away (EPIPE) ends the process, with exit status `status_if_closed`:
// it has all it wanted. Another failure is returned.
Status WriteOut(std::string_view text, int status_if_closed = kExitDone);

// Ignores SIGPIPE, so that a broken pipe is an errno. First thing in main().
void IgnoreBrokenPipe();

// Worker threads for `asked` (0: as many as cores, at least 2).
unsigned ResolveThreads(unsigned asked);

}  // namespace augur
