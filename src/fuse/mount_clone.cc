// SPDX-License-Identifier: Apache-2.0
#include "fuse/mount_clone.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "fuse/passed_fds.h"

namespace augur {
namespace {

// errno as the result's failure.
Result<UniqueFd> CloneHere(const std::string& path) {
  UniqueFd clone(
      open_tree(AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW));
  if (!clone.valid()) return ErrnoStatus(errno, "open_tree");
  // What is mounted below the original later must not be mounted below the clone, too.
  mount_attr attributes{};
  attributes.propagation = MS_PRIVATE;
  if (mount_setattr(clone.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0) {
    return ErrnoStatus(errno, "mount_setattr");
  }
  return clone;
}

// The child: its copies of all mounts end with it, but for the clone that it sends.
[[noreturn]] void CloneInNamespace(const std::string& path, int socket) {
  int error = 0;
  UniqueFd clone;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    error = errno;
  } else if (Result<UniqueFd> made = CloneHere(path); made.ok()) {
    clone = std::move(made).value();
  } else {
    error = errno;
  }
  const std::array<int, 1> fds = {clone.get()};
  const auto packet = std::as_bytes(std::span(&error, 1));
  (void)SendWithFds(socket, packet, clone.valid() ? std::span<const int>(fds) : std::span<const int>());
  _exit(0);
}

}  // namespace

Result<UniqueFd> CloneMount(const std::string& path) {
  Result<UniqueFd> here = CloneHere(path);
  if (here.ok() || here.status().code() != Code::kPermission) return here;
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return ErrnoStatus(errno, "socketpair");
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, "fork");
  if (child == 0) CloneInNamespace(path, theirs.get());
  theirs.Reset();
  int error = EIO;
  std::vector<UniqueFd> fds;
  (void)ReceiveWithFds(ours.get(), std::as_writable_bytes(std::span(&error, 1)), fds);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (fds.size() != 1) return ErrnoStatus(error, "a namespace of its own");
  return std::move(fds[0]);
}

}  // namespace augur
