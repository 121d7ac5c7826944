// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "augur/status.h"

namespace augur {

// Keeps the recorded runs of all stores within bounds. Of the folders in `orders` (each a ReplayFolder, named by 16
// hexadecimal digits) the `folders_max` that were opened last stay. Of the others the recorded runs are removed, and
// the folder if nothing else is in it. What has another name, is a link, or belongs to another user is left alone. A
// daemon that has such a folder open goes on without it. Waits for the disk; safe beside other processes. Fails when
// `orders` cannot be listed.
Status TrimReplayFolders(const std::string& orders, size_t folders_max);

}  // namespace augur
