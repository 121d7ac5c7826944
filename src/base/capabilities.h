// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "augur/status.h"

namespace augur {

// What a process gives up of root's privileges (capabilities(7)). Linux keeps capabilities for each thread, so all of
// it is for a process that has one thread.

// Cuts the permitted and effective capabilities to those of `kept` (numbers of linux/capability.h) that the process
// has, and empties the inheritable and ambient ones. Takes all but `kept` out of the bounding set where it may. A kept
// one that the process does not have is no failure.
Status KeepCapabilities(std::span<const int> kept);

// No program that it or a child executes gets privileges, set-user-id programs too.
Status RefuseNewPrivileges();

// A user to become, as the system's list has them.
struct User {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // with `gid`
  std::string home;
};

// Becomes the user for good, with their groups and without any capability. Other processes of that user may look into
// this one as into any other of theirs, as its own threads must through /proc/self. kPermission: this process may not.
Status BecomeUser(const User& user);

}  // namespace augur
