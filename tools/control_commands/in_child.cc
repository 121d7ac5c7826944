// SPDX-License-Identifier: Apache-2.0
#include "tools/control_commands/in_child.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/unique_fd.h"

namespace augur {
namespace {

// What goes through the pipe: the code as one byte, and the text or the value. A pipe takes it all: paths are short.
[[noreturn]] void Tell(int pipe, const Result<std::string>& result) {
  std::string message(1, static_cast<char>(result.ok() ? Code::kOk : result.status().code()));
  message += result.ok() ? *result : result.status().text();
  (void)!write(pipe, message.data(), message.size());
  _exit(0);
}

}  // namespace

Result<std::string> InChild(const std::function<Result<std::string>()>& body, std::chrono::milliseconds time_max) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, "fork");
  if (child == 0) Tell(theirs.get(), body());
  theirs.Reset();
  std::string message;
  const auto end = std::chrono::steady_clock::now() + time_max;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd ready = {.fd = ours.get(), .events = POLLIN, .revents = 0};
    const int count = poll(&ready, 1, static_cast<int>(std::max<int64_t>(left, 0)));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      kill(child, SIGKILL);
      (void)waitpid(child, nullptr, WNOHANG);
      return Status(Code::kBusy, "not done in time");
    }
    std::array<char, 4096> piece;
    const ssize_t bytes = read(ours.get(), piece.data(), piece.size());
    if (bytes <= 0) break;
    message.append(piece.data(), static_cast<size_t>(bytes));
  }
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (message.empty()) {
    return Status(Code::kIo, "the process that reads the mount's .augur/control was killed: try again");
  }
  const auto code = static_cast<Code>(message[0]);
  message.erase(0, 1);
  if (code != Code::kOk) return Status(code, std::move(message));
  return message;
}

}  // namespace augur
