// SPDX-License-Identifier: Apache-2.0
#include "unit/fuse/other_process.h"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <fstream>

#include "base/check.h"

namespace augur {
namespace {

std::string ReadFiles(const std::vector<std::string>& paths) {
  std::string all;
  for (const std::string& path : paths) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return std::string("[") + strerrorname_np(errno) + "]";
    struct stat attributes {};
    if (fstat(file.get(), &attributes) != 0) return std::string("[") + strerrorname_np(errno) + "]";
    const size_t before = all.size();
    all.resize(before + static_cast<size_t>(attributes.st_size));
    for (size_t at = before; at < all.size();) {
      const ssize_t bytes = read(file.get(), all.data() + at, all.size() - at);
      if (bytes < 0) return std::string("[") + strerrorname_np(errno) + "]";
      if (bytes == 0) return "[short]";
      at += static_cast<size_t>(bytes);
    }
  }
  return all;
}

// Where a child writes.
constexpr int kOut = STDERR_FILENO + 1;

void WriteAll(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t bytes = write(kOut, text.data() + at, text.size() - at);
    if (bytes <= 0) _exit(1);
    at += static_cast<size_t>(bytes);
  }
}

}  // namespace

OtherProcess::OtherProcess(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  AUGUR_CHECK(pipe2(ends.data(), O_CLOEXEC) == 0);
  pid_ = fork();
  AUGUR_CHECK(pid_ >= 0);
  if (pid_ > 0) {
    close(ends[1]);
    out_.Reset(ends[0]);
    return;
  }
  if (ends[1] != kOut) dup2(ends[1], kOut);
  close_range(kOut + 1, UINT_MAX, 0);
  WriteAll(body());
  _exit(0);
}

void OtherProcess::Tell(const std::string& line) { WriteAll(line + "\n"); }

std::string OtherProcess::ReadLine() {
  std::string line;
  char c = 0;
  while (read(out_.get(), &c, 1) == 1 && c != '\n') line += c;
  return line;
}

OtherProcess::~OtherProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::optional<std::string> OtherProcess::Wait() {
  std::string text;
  std::array<char, 65536> piece;
  while (true) {
    const ssize_t bytes = read(out_.get(), piece.data(), piece.size());
    if (bytes <= 0) break;
    text.append(piece.data(), static_cast<size_t>(bytes));
  }
  int status = 0;
  const bool ended = waitpid(pid_, &status, 0) == pid_ && WIFEXITED(status);
  pid_ = -1;
  return ended ? std::optional(std::move(text)) : std::nullopt;
}

std::string ReadFromOutside(const std::vector<std::string>& paths) {
  OtherProcess reader([&] { return ReadFiles(paths); });
  return reader.Wait().value_or("[killed]");
}

bool IsRunning(pid_t pid) {
  std::string line;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), line);
  const size_t bracket = line.rfind(')');
  return bracket != std::string::npos && line[bracket + 2] != 'Z' && line[bracket + 2] != 'X';
}

int RunProgram(const std::vector<std::string>& words) {
  std::vector<std::string> own = words;
  std::vector<char*> argv;
  argv.reserve(own.size() + 1);
  for (std::string& word : own) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  }
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return 127;
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace augur
