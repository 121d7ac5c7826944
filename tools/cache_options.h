// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "augur/status.h"
#include "tools/options.h"

namespace augur {

// Where records are kept: in memory of the daemon, in /dev/shm where mounts of one store share them, or nowhere.
enum class CachePlace { kRam, kShm, kNone };

// The retained cache, as the user has said it.
struct CacheOptions {
  CachePlace place = CachePlace::kRam;
  uint64_t bytes = 0;     // 0: what the other parts of the memory leave
  bool outlives = false;  // the cache in /dev/shm stays when the last mount ends
  std::string group;      // whose users share the cache in /dev/shm; empty: this user alone
};

struct DiskCacheOption {
  std::string folder;  // empty: there is none
  uint64_t bytes = 0;  // 0: the default
};

// The mount options of the retained cache, and of the caches on a local disk.
std::vector<Option> CacheRows();
std::vector<Option> DiskCacheRows();

// The values that such options have. kInvalid: two of them do not go together.
Result<CacheOptions> ReadCache(const Values& values);
// `name`: "-o disk-cache".
Result<DiskCacheOption> ReadDiskCache(const Values& values, const std::string& name);

}  // namespace augur
