// SPDX-License-Identifier: Apache-2.0
#include "tools/output.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

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

// What helps where the system refuses. The other codes say it themselves, or whoever knows more about them says it.
std::string CureOf(const Status& status) {
  constexpr auto kCures = std::to_array<std::pair<int, std::string_view>>(
      {{ENOENT, ": check the path"},
       {ENOTDIR, ": only a folder can be there"},
       {EISDIR, ": this is a folder, and a file is wanted"},
       {EACCES,
        ": this user may not do that: run it as a user who may, or let the owner change the rights, which 'ls -ld' "
        "shows for it and the folders above"},
       {EPERM, ": only its owner or root may do that"},
       {EROFS, ": choose another place, or mount this one for writing"},
       {EMFILE, ": raise 'ulimit -n'"},
       {EIO, ": the disk, or the server that has it, fails: the kernel's log ('dmesg') says more"}});
  if (IsDiskFull(status)) return std::string(kMakeRoom) + ", or choose another one";
  for (const auto& [error, cure] : kCures) {
    if (EndsInError(status, error)) return std::string(cure);
  }
  return {};
}

}  // namespace

void PrintError(std::string_view program, std::string_view text) {
  // When this fails, there is no way left to say so.
  (void)WriteAll(STDERR_FILENO, std::string(program) + ": " + TerminalText(text) + "\n");
}

void PrintError(std::string_view program, const Status& status) { PrintError(program, status.text()); }

int Fail(std::string_view program, const Status& status) {
  PrintError(program, status.text() + CureOf(status));
  return kExitError;
}

bool EndsInError(const Status& status, int error) {
  return status.text().ends_with(": " + std::generic_category().message(error));
}

bool IsDiskFull(const Status& status) { return EndsInError(status, ENOSPC) || EndsInError(status, EDQUOT); }

Status WriteOut(std::string_view text, int status_if_closed) {
  const int error = WriteAll(STDOUT_FILENO, text);
  // _exit, because other threads may still be at work.
  if (error == EPIPE) ::_exit(status_if_closed);
  return error == 0 ? Status::Ok() : ErrnoStatus(error, "standard output");
}

void IgnoreBrokenPipe() { std::signal(SIGPIPE, SIG_IGN); }

unsigned ResolveThreads(unsigned asked) { return asked != 0 ? asked : std::max(UsableCores(), 2U); }

}  // namespace augur
