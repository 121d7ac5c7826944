// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fs/node.h"
#include "fuse/notify_channel.h"

namespace augur {

// What makes the kernel forget. Each returns 0, ENOENT (the kernel does not know the name, or the node), or another
// errno value of NotifyChannel::Write. None may be called on a thread that answers requests.

// A name in a folder, whether it stands for something or for nothing (FUSE_NOTIFY_INVAL_ENTRY). What nothing has open
// below it is forgotten with it, and comes back as FORGET. Waits until the folder's lock is free, which a LOOKUP and a
// READDIR hold until they are answered.
int InvalidateName(NotifyChannel& channel, NodeId folder, const std::string& name);

// The attributes of a node, and all pages of a file or the listing of a folder (FUSE_NOTIFY_INVAL_INODE). Waits while
// the kernel holds a page locked for an unanswered READ.
int InvalidateNode(NotifyChannel& channel, NodeId node);
// The attributes alone. Waits for nothing.
int InvalidateAttributes(NotifyChannel& channel, NodeId node);

// Whether an error means that the mount is gone.
bool MountIsGone(int error);

}  // namespace augur
