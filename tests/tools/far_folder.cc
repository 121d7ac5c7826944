// SPDX-License-Identifier: Apache-2.0
//
//   far_folder FOLDER MOUNT [--delay-ms 30] [--in-flight 256] [--no-locks] [--no-direct]
//
// Mounts a folder as the file system of a server far away, for tests of stores on shared file systems. Each read takes
// `--delay-ms`. Prints "ready" when it is mounted. Then it takes commands, one a line of its standard input, and
// answers each with a line:
//   stale     the server loses its handles: files and folders that were opened or looked up before give ESTALE
//   broken    the same, but their reads give EIO
//   pause     no request is answered
//   resume    they are again
//   short     each read with O_DIRECT gives half of what was asked for, in whole pages
//   whole     reads are whole again
//   delay MS  each read takes so long
//   fail N    one of N reads gives EIO; 0: none
//   flip N    one of N reads with O_DIRECT has a wrong bit; 0: none
//   counters  JSON: what came since the last such command: files that were opened, reads, their bytes, and the most
//             reads that were in flight at once
// It unmounts and ends when its standard input does. `--no-locks`: flock(2) fails with ENOLCK. `--no-direct`: O_DIRECT
// is refused.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/unique_fd.h"
#include "far_requests.h"

namespace augur {
namespace {

constexpr unsigned kThreadsMax = 320;

// The number of a command that has this word; nothing: it is another command.
std::optional<int> NumberOf(const std::string& command, const std::string& word) {
  if (!command.starts_with(word + " ")) return std::nullopt;
  int number = 0;
  const char* const end = command.data() + command.size();
  const auto [stop, error] = std::from_chars(command.data() + word.size() + 1, end, number);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

std::string Obey(Far& far, const std::string& command) {
  if (command == "stale" || command == "broken") {
    far.weather.stale_read_errno = command == "stale" ? ESTALE : EIO;
    far.nodes.Expire();
  } else if (command == "pause" || command == "resume") {
    far.weather.Pause(command == "pause");
  } else if (command == "short" || command == "whole") {
    far.weather.is_short = command == "short";
  } else if (command == "counters") {
    return far.weather.TakeCounters();
  } else if (const auto delay = NumberOf(command, "delay")) {
    far.weather.delay_ms = *delay;
  } else if (const auto fail = NumberOf(command, "fail")) {
    far.weather.fail_every = static_cast<unsigned>(*fail);
  } else if (const auto flip = NumberOf(command, "flip")) {
    far.weather.flip_every = static_cast<unsigned>(*flip);
  } else {
    return "no such command: " + command;
  }
  return "done";
}

// The end of the process closes its connection, which ends every request that is still there.
[[noreturn]] void TakeCommands(Far& far) {
  struct stat root {};
  std::cout << (::stat(far.options.mount.c_str(), &root) == 0 ? "ready" : "not mounted") << std::endl;
  std::string command;
  while (std::getline(std::cin, command)) std::cout << Obey(far, command) << std::endl;
  ::umount2(far.options.mount.c_str(), MNT_DETACH);
  std::_Exit(0);
}

int Run(const FarOptions& options) {
  UniqueFd root(::open(options.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) {
    std::perror(options.folder.c_str());
    return 2;
  }
  Far far(options, std::move(root));
  std::array<char*, 4> words = {strdup("far_folder"), strdup("-o"),
                                strdup("allow_other,default_permissions,fsname=far,subtype=far_folder"), nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(3, words.data());
  const fuse_lowlevel_ops operations = FarRequests(options);
  fuse_session* const session = fuse_session_new(&arguments, &operations, sizeof(operations), &far);
  if (session == nullptr || fuse_session_mount(session, options.mount.c_str()) != 0) return 2;
  std::thread commands([&far] { TakeCommands(far); });
  fuse_loop_config* const threads = fuse_loop_cfg_create();
  fuse_loop_cfg_set_max_threads(threads, kThreadsMax);
  fuse_loop_cfg_set_idle_threads(threads, kThreadsMax);
  const int result = fuse_session_loop_mt(session, threads);
  std::_Exit(result == 0 ? 0 : 2);  // it was unmounted by somebody else, and the thread waits for a command
}

}  // namespace
}  // namespace augur

// NOLINTNEXTLINE(bugprone-exception-escape): ends the program, with its text
int main(int argc, char** argv) {
  CLI::App app("Mounts a folder as the file system of a server far away, for tests.");
  augur::FarOptions options;
  app.add_option("FOLDER", options.folder)->required();
  app.add_option("MOUNT", options.mount)->required();
  app.add_option("--delay-ms", options.delay_ms, "of each read")->check(CLI::Range(0, 10'000));
  app.add_option("--in-flight", options.in_flight_max, "requests of the kernel at once")->check(CLI::Range(1, 1024));
  app.add_flag("--no-locks", options.no_locks, "flock(2) fails with ENOLCK");
  app.add_flag("--no-direct", options.no_direct, "reads with O_DIRECT fail with EINVAL");
  CLI11_PARSE(app, argc, argv);
  return augur::Run(options);
}
