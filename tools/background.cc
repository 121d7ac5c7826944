// SPDX-License-Identifier: Apache-2.0
#include "tools/background.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/trusted_path.h"
#include "tools/output.h"

namespace augur {
namespace {

volatile std::sig_atomic_t waited_for = 0;  // the child

// It ends, or has ended by the same Ctrl-C, and says so.
void PassSignalsOnTo(pid_t child) {
  waited_for = child;
  struct sigaction action {};
  action.sa_handler = [](int number) { kill(waited_for, number); };
  action.sa_flags = SA_RESTART;
  for (const int one : {SIGINT, SIGTERM, SIGHUP}) sigaction(one, &action, nullptr);
}

// The parent: waits for the child, and ends as it says.
[[noreturn]] void WaitForChild(int ready, pid_t child) {
  PassSignalsOnTo(child);
  char byte = 0;
  ssize_t bytes = 0;
  do {
    bytes = read(ready, &byte, 1);
  } while (bytes < 0 && errno == EINTR);
  if (bytes == 1) _exit(kExitDone);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  PrintError("augurfs", "killed by signal " + std::to_string(WTERMSIG(status)) + " before the mount answered");
  _exit(kExitError);
}

void CloseAllBut(int one, int other) {
  const auto low = static_cast<unsigned>(std::min(one, other));
  const auto high = static_cast<unsigned>(std::max(one, other));
  unsigned from = STDERR_FILENO + 1;
  for (const unsigned keep : {low, high}) {
    if (keep > INT_MAX || keep < from) continue;  // -1, or a standard stream
    if (keep > from) close_range(from, keep - 1, 0);
    from = keep + 1;
  }
  close_range(from, UINT_MAX, 0);
}

}  // namespace

Result<Background> Background::Fork(int keep_fd) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, "fork");
  if (child > 0) {
    close(ends[1]);
    WaitForChild(ends[0], child);
  }
  CloseAllBut(ends[1], keep_fd);
  Background background;
  background.ready_.Reset(ends[1]);
  return background;
}

Status Background::Leave(const std::string& error_path) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) return ErrnoStatus(errno, "/dev/null");
  UniqueFd errors;
  if (!error_path.empty()) {
    AUGUR_TRY_ASSIGN(opened, OpenTrustedLog(error_path));
    errors = std::move(opened);
  }
  setsid();
  if (chdir("/") != 0) return ErrnoStatus(errno, "/");
  dup2(null.get(), STDIN_FILENO);
  dup2(null.get(), STDOUT_FILENO);
  dup2(errors.valid() ? errors.get() : null.get(), STDERR_FILENO);
  return Status::Ok();
}

Status Background::Ready() {
  const char byte = 1;
  if (write(ready_.get(), &byte, 1) != 1) return {Code::kStopped, "the caller is gone"};
  ready_.Reset();
  return Status::Ok();
}

}  // namespace augur
