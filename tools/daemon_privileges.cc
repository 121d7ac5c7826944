// SPDX-License-Identifier: Apache-2.0
#include "tools/daemon_privileges.h"

#include <grp.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "base/units.h"

namespace augur {
namespace {

// What root's daemon keeps. Mounting, unmounting, the abort of the connection, the kernel's read-ahead and the
// environment of readers are the broker's (broker_process.cc). Before: raising the limit of descriptors to the hard
// limit takes none; CAP_SYS_RESOURCE for PR_SET_IO_FLUSHER; CAP_SETGID and CAP_SETUID for becoming another user.
constexpr auto kKept = std::to_array<int>({
    CAP_DAC_READ_SEARCH,  // a store that only its owner may read: shards are opened as they are needed
    // A shard outside the store's folder is opened with the rights of the index's owner, who is another user: their
    // groups, and their user.
    CAP_SETGID,
    CAP_SETUID,
});

Status Join(gid_t group) {
  std::vector<gid_t> groups(static_cast<size_t>(std::max(getgroups(0, nullptr), 0)));
  if (getgroups(static_cast<int>(groups.size()), groups.data()) < 0) return ErrnoStatus(errno, "getgroups");
  if (std::ranges::find(groups, group) != groups.end() || getegid() == group) return Status::Ok();
  groups.push_back(group);
  if (setgroups(groups.size(), groups.data()) != 0) return ErrnoStatus(errno, "joining the group of cache-group=");
  return Status::Ok();
}

std::string Cure(const User& user) {
  return ": user " + user.name +
         ", as whom -o run-as= serves, may not read it: give that user the right (chmod, chgrp or setfacl), or choose "
         "another user";
}

}  // namespace

Status GiveUpPrivileges(const std::optional<User>& run_as, const std::optional<gid_t>& cache_group) {
  if (run_as) {
    AUGUR_TRY(BecomeUser(*run_as).In("-o run-as=" + run_as->name));
  } else {
    const bool root = geteuid() == 0;
    if (root && cache_group) AUGUR_TRY(Join(*cache_group));
    AUGUR_TRY(KeepCapabilities(root ? std::span<const int>(kKept) : std::span<const int>()));
  }
  return RefuseNewPrivileges();
}

Status CheckReadable(const Store& store, const User& user) {
  for (uint32_t number = 0; number < store.summary().shard_count; ++number) {
    AUGUR_TRY_ASSIGN(shard, store.Shard(number));
    if (access(shard.path.c_str(), R_OK) != 0 && errno == EACCES) {
      return {Code::kPermission, Printable(shard.path) + Cure(user)};
    }
  }
  return Status::Ok();
}

Status ExplainUnreadable(const Status& failure, const User& user) {
  if (failure.code() != Code::kPermission) return failure;
  return {failure.code(), failure.text() + Cure(user)};
}

}  // namespace augur
