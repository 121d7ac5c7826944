// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fuse/helper_message.h"

namespace augur {

// Ends the FUSE connection of a mount whose daemon is dead: every request on it fails, as it does by itself once the
// last descriptor of /dev/fuse is closed. That may never come: a thread that was pushing pages may wait, deaf even to
// SIGKILL, for one that is locked until a READ is answered, and with it stay its descriptors, the mount and its
// readers. Uses the file abort of /sys/fs/fuse/connections, which belongs to the mounting user, or as root a forced
// umount that is kept from succeeding: the dead mount stays where it is, and its readers see errors and not an empty
// folder. Nothing where neither can be used, or `path` is no longer the mount.
void AbortConnection(const std::string& path, const HelperMount& mount);

}  // namespace augur
