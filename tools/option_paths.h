// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augur/status.h"
#include "tools/augurfs_options.h"

namespace augur {

// Makes every path of the options absolute, so that it stays right when the daemon leaves its working folder. Says
// which shards outside the store's folder may be read (SetForeignFolders). The mount point is DaemonMount's. kNotFound
// and others: the store's folder.
Status ResolvePaths(AugurfsOptions& options);

}  // namespace augur
