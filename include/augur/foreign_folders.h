// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace augur {

// Names, for all stores that this process opens from now on, the folders whose files may be shards although they lie
// outside the store's folder. Without it, any file that the index's owner may read. Call before threads start.
void SetForeignFolders(std::vector<std::string> folders);

}  // namespace augur
