// SPDX-License-Identifier: Apache-2.0
#include "fuse/fusermount.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace augur {
namespace {

constexpr const char* kProgram = "fusermount3";

// Attributes and file actions of posix_spawn, destroyed together.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&actions_);
    // The daemon blocks signals and ignores SIGPIPE; its child starts as from a shell.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  // `to` in the child is our `from`. When both are the same number, close-on-exec is taken off it.
  void Give(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }

  // Returns 0 or an errno value.
  int Spawn(std::vector<std::string> arguments, std::vector<std::string> extra_environment, pid_t* pid) {
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::vector<char*> environment;
    environment.reserve(extra_environment.size() + 1);
    for (std::string& variable : extra_environment) environment.push_back(variable.data());
    for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
    environment.push_back(nullptr);
    return posix_spawnp(pid, kProgram, &actions_, &attributes_, argv.data(), environment.data());
  }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

// What fusermount3 wrote to its stderr, on one line and without its name.
std::string ReadComplaint(int fd) {
  std::string text;
  std::array<char, 1024> piece;
  while (true) {
    const ssize_t bytes = read(fd, piece.data(), piece.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    text.append(piece.data(), static_cast<size_t>(bytes));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::string name = std::string(kProgram) + ": ";
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name)) text.erase(at, name.size());
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

// Small containers and chroots have no /etc/mtab, and fusermount3 unmounts nothing without.
std::string UnmountComplaint(const std::string& complaint) {
  if (complaint.empty()) return "fusermount3 -u failed without a word";
  if (complaint.find("/etc/mtab") == std::string::npos) return complaint;
  return complaint + ": let root make it (ln -s /proc/self/mounts /etc/mtab), or unmount";
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

Status SpawnFailure(int error) {
  if (error == ENOENT) {
    return {Code::kUnsupported,
            "an ordinary user needs fusermount3 to mount, and it is not installed: apt-get install fuse3, or run as "
            "root"};
  }
  return ErrnoStatus(error, kProgram);
}

// Receives the descriptor; an invalid one when fusermount3 ended without sending it.
UniqueFd ReceiveFd(int socket) {
  char byte = 0;
  iovec data{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t bytes = 0;
  do {
    bytes = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (bytes < 0 && errno == EINTR);
  if (bytes <= 0) return {};
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(int))) {
    return {};
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return UniqueFd(fd);
}

}  // namespace

Result<UniqueFd> MountByFusermount(const std::string& path, const std::string& options) {
  std::array<int, 2> sockets{};
  std::array<int, 2> complaints{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) return ErrnoStatus(errno, "socketpair");
  const UniqueFd ours(sockets[0]);
  UniqueFd theirs(sockets[1]);
  if (pipe2(complaints.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  const UniqueFd complaint_read(complaints[0]);
  UniqueFd complaint_write(complaints[1]);

  SpawnPlan plan;
  plan.Give(complaint_write.get(), STDERR_FILENO);
  plan.Give(theirs.get(), theirs.get());
  pid_t pid = -1;
  const int error =
      plan.Spawn({kProgram, "-o", options, "--", path}, {"_FUSE_COMMFD=" + std::to_string(theirs.get())}, &pid);
  theirs.Reset();
  complaint_write.Reset();
  if (error != 0) return SpawnFailure(error);
  UniqueFd device = ReceiveFd(ours.get());
  const std::string complaint = ReadComplaint(complaint_read.get());
  WaitFor(pid);
  if (!device.valid()) {
    return Status(Code::kPermission, complaint.empty() ? "fusermount3 failed and gave no reason" : complaint);
  }
  return device;
}

Status UnmountByFusermount(const std::string& path, bool lazy) {
  std::array<int, 2> complaints{};
  if (pipe2(complaints.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  const UniqueFd complaint_read(complaints[0]);
  UniqueFd complaint_write(complaints[1]);
  SpawnPlan plan;
  plan.Give(complaint_write.get(), STDERR_FILENO);
  std::vector<std::string> arguments = {kProgram, "-u"};
  if (lazy) arguments.emplace_back("-z");
  arguments.insert(arguments.end(), {"--", path});
  pid_t pid = -1;
  const int error = plan.Spawn(std::move(arguments), {}, &pid);
  complaint_write.Reset();
  if (error != 0) return SpawnFailure(error);
  const std::string complaint = ReadComplaint(complaint_read.get());
  if (WaitFor(pid) != 0) return {Code::kBusy, UnmountComplaint(complaint)};
  return Status::Ok();
}

}  // namespace augur
