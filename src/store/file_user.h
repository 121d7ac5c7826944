// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace augur {

// A user as file permissions know him. A value type.
struct FileUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // beside `gid`

  // Whether the permission bits `wanted` (4: read, 1: search) of a file with this mode and owner are his. Access
  // control lists are not looked at.
  bool Has(unsigned wanted, unsigned mode, uid_t owner, gid_t group) const;
};

// The user with the groups that the system's user database gives him; without a row there, no group is his. Waits for
// the database, which may be a server.
FileUser FileUserOf(uid_t uid);

// Runs `body` on a thread of its own that has the file rights of this user and no others. False when the system does
// not let this process take them, or has no thread; `body` was not run then. The caller's own rights do not change.
bool RunAs(const FileUser& user, const std::function<void()>& body);

}  // namespace augur
