// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>

#include "augur/status.h"
#include "augur/store.h"
#include "base/capabilities.h"

namespace augur {

// Gives up what the daemon, and the helper that it forks, do not need. For the time after the Broker was forked and
// before there are threads. With `run_as` it becomes that user. Else root keeps what daemon_privileges.cc lists, and
// joins `cache_group`, whose files it could else not share. No program that it executes gets privileges.
Status GiveUpPrivileges(const std::optional<User>& run_as, const std::optional<gid_t>& cache_group);

// Whether this process may read the shards. kPermission: one may not be read; names it, the user and the cure. A shard
// that is missing is told when it is read.
Status CheckReadable(const Store& store, const User& user);
// The same for a failure to open the store.
Status ExplainUnreadable(const Status& failure, const User& user);

}  // namespace augur
