// SPDX-License-Identifier: Apache-2.0
#include "tools/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "base/cores.h"
#include "base/terminal_text.h"

namespace augur {
namespace {

// errno, or 0.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

void PrintError(std::string_view program, std::string_view text) {
  // Nobody is left to be told when this fails.
  (void)WriteAll(STDERR_FILENO, std::string(program) + ": " + TerminalText(text) + "\n");
}

void PrintError(std::string_view program, const Status& status) { PrintError(program, status.text()); }

int Fail(std::string_view program, const Status& status) {
  PrintError(program, status);
  return kExitError;
}

Status WriteOut(std::string_view text, int status_if_closed) {
  const int error = WriteAll(STDOUT_FILENO, text);
  // _exit, because other threads may still be at work.
  if (error == EPIPE) ::_exit(status_if_closed);
  return error == 0 ? Status::Ok() : ErrnoStatus(error, "standard output");
}

void IgnoreBrokenPipe() { std::signal(SIGPIPE, SIG_IGN); }

unsigned ResolveThreads(unsigned asked) { return asked != 0 ? asked : std::max(UsableCores(), 2U); }

}  // namespace augur
