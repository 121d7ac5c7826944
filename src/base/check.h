// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace augur {
// Prints `file:line: check failed: expr` to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* expr);
}  // namespace augur

// A bug of ours stops the program, in release builds too: wrong bytes are worse than no bytes.
#define AUGUR_CHECK(expr) (static_cast<bool>(expr) ? void(0) : ::augur::CheckFailed(__FILE__, __LINE__, #expr))
