// SPDX-License-Identifier: Apache-2.0
#include "fuse/fusermount.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fuse/spawn_plan.h"

namespace augur {
namespace {

constexpr const char* kProgram = "fusermount3";

// What fusermount3 wrote to its stderr, on one line and without its name.
std::string ReadComplaint(int fd) {
  std::string text = ReadAsLine(fd);
  const std::string name = std::string(kProgram) + ": ";
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name)) text.erase(at, name.size());
  return text;
}

// Small containers and chroots have no /etc/mtab, and fusermount3 unmounts nothing without.
std::string UnmountComplaint(const std::string& complaint) {
  if (complaint.empty()) return "fusermount3 -u failed without a word";
  if (complaint.find("/etc/mtab") == std::string::npos) return complaint;
  return complaint + ": let root make it (ln -s /proc/self/mounts /etc/mtab), or unmount";
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
  (void)WaitForEnd(pid);
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
  if (WaitForEnd(pid) != 0) return {Code::kBusy, UnmountComplaint(complaint)};
  return Status::Ok();
}

}  // namespace augur
