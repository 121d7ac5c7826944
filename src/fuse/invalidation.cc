// SPDX-License-Identifier: Apache-2.0
#include "fuse/invalidation.h"

#include <linux/fuse.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace augur {
namespace {

// `offset` as in FUSE: below 0 the attributes alone; from 0 on to the end of the file.
int InvalidateFrom(NotifyChannel& channel, NodeId node, int64_t offset) {
  struct {
    fuse_out_header header{};
    fuse_notify_inval_inode_out body{};
  } message;
  static_assert(offsetof(decltype(message), body) == sizeof(fuse_out_header));
  message.header = {.len = sizeof message, .error = FUSE_NOTIFY_INVAL_INODE, .unique = 0};
  message.body = {.ino = node, .off = offset, .len = 0};
  const iovec piece = {.iov_base = &message, .iov_len = sizeof message};
  return channel.Write({&piece, 1});
}

}  // namespace

int InvalidateName(NotifyChannel& channel, NodeId folder, const std::string& name) {
  fuse_notify_inval_entry_out body{};
  body.parent = folder;
  body.namelen = static_cast<uint32_t>(name.size());
  // The name follows with its zero byte, which namelen does not count.
  fuse_out_header header{};
  header.len = static_cast<uint32_t>(sizeof header + sizeof body + name.size() + 1);
  header.error = FUSE_NOTIFY_INVAL_ENTRY;
  const std::array<iovec, 3> message = {{{.iov_base = &header, .iov_len = sizeof header},
                                         {.iov_base = &body, .iov_len = sizeof body},
                                         {.iov_base = const_cast<char*>(name.c_str()), .iov_len = name.size() + 1}}};
  return channel.Write(message);
}

int InvalidateNode(NotifyChannel& channel, NodeId node) { return InvalidateFrom(channel, node, 0); }

int InvalidateAttributes(NotifyChannel& channel, NodeId node) { return InvalidateFrom(channel, node, -1); }

bool MountIsGone(int error) { return error == ENODEV || error == EBADF || error == ENOTCONN || error == ECONNABORTED; }

}  // namespace augur
