// SPDX-License-Identifier: Apache-2.0
#include "fuse/passed_fds.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace augur {

bool SendWithFds(int socket, std::span<const std::byte> packet, std::span<const int> fds, int flags) {
  AUGUR_CHECK(fds.size() <= kPassedFdsMax);
  iovec data{.iov_base = const_cast<std::byte*>(packet.data()), .iov_len = packet.size()};  // NOLINT: only read
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kPassedFdsMax * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  ssize_t bytes = 0;
  do {
    bytes = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  } while (bytes < 0 && errno == EINTR);
  return bytes >= 0;
}

ssize_t ReceiveWithFds(int socket, std::span<std::byte> packet, std::vector<UniqueFd>& fds, int flags) {
  iovec data{.iov_base = packet.data(), .iov_len = packet.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kPassedFdsMax * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t bytes = 0;
  do {
    bytes = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  } while (bytes < 0 && (errno == ECONNRESET || errno == EINTR));
  if (bytes < 0) return bytes;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = 0; at + CMSG_LEN(sizeof(int)) <= header->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + at, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return bytes;
}

}  // namespace augur
