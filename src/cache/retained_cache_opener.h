// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "cache/retained_cache.h"
#include "cache/retained_cache_lock.h"
#include "cache/retained_cache_memory.h"
#include "cache/retained_cache_parts.h"

namespace augur {

// RetainedCacheOpener makes the parts of one retained cache: of a file that is there, of a new one, or of memory of
// this process. One thread. Options and notes outlive it. Not for the name and the owner of a file
// (retained_cache_file.h).
class RetainedCacheOpener {
 public:
  using Parts = RetainedCache::Parts;

  RetainedCacheOpener(const RetainedCache::Options& options, std::vector<std::string>& notes);

  // As RetainedCache::Open.
  Result<std::shared_ptr<Parts>> Open();

 private:
  // An open file with its lock and a slot held.
  struct Attached {
    UniqueFd fd;
    RetainedCacheLock lock;
    unsigned slot = 0;
    uint64_t others = 0;  // slots of daemons that live
    uint64_t held_bytes = 0;
    bool is_new = false;
  };

  Result<std::shared_ptr<Parts>> InProcess();
  Result<Attached> Attach();
  Result<std::shared_ptr<Parts>> Shared();
  // REQUIRES for both: `at` is locked. A failure closes it, and so lets go of lock and slot.
  Result<std::shared_ptr<Parts>> Make(Attached at, uint64_t limit, RetainedCacheRoom room);
  Result<std::shared_ptr<Parts>> TakeOver(Attached at, uint64_t limit, RetainedCacheRoom room);
  void Finish(Parts& parts, Attached& at, uint64_t limit) AUGUR_REQUIRES(parts.mu);

  const RetainedCache::Options& options_;
  std::vector<std::string>& notes_;
  const std::string path_;  // of the file, for kShm
};

}  // namespace augur
