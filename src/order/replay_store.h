// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "augur/store.h"
#include "base/unique_fd.h"
#include "order/order.h"
#include "order/replay_file.h"

namespace augur {

struct ReplayLimits {
  uint64_t run_bytes_max = uint64_t{64} << 20;     // of one run: later epochs are left out
  uint64_t store_bytes_max = uint64_t{256} << 20;  // of all runs of one store: the oldest goes
  size_t store_runs_max = 64;
};

// A recorded run, without its orders.
struct ReplayRun {
  std::string name;  // made by ReplayStore::NewName
  std::string finding;
  std::vector<uint64_t> epoch_files;  // of each recorded epoch
  int64_t time_sec = 0;               // when it was last written or touched, Unix time
  uint64_t bytes = 0;                 // on disk
};

// A recorded epoch that a run now seen may be.
struct ReplayMatch {
  std::string run;     // name
  size_t epoch = 0;    // which of its recorded epochs
  uint64_t begin = 0;  // about where in it the reads are
  double bits = 0;     // log2 of the likelihood against chance, what was tried accounted for
};

// The folder in which the orders of a store's runs are kept: $XDG_CACHE_HOME/augurfs/orders/HASH, or
// ~/.cache/augurfs/orders/HASH where the variable is not an absolute path. HASH is of the store's real path. Empty when
// `home` is not an absolute path either.
std::string ReplayFolder(const char* xdg_cache_home, const char* home, const std::string& store_path);

// ReplayStore keeps the orders of runs that were seen on one store, one file a run (ReplayFile), so that the same run
// is recognised when it comes again. Safe from any thread and beside other daemons: a file is written beside its place
// and renamed, and checked when it is read; what does not pass is removed and counts for nothing. An order names
// entries of one index, so runs of an earlier generation, or of another store in the same place, are removed too.
// Methods wait for the disk: not for threads that serve requests. Removing the folder at any time does no harm.
//
// How it is judged. Let a recorded epoch have n files, and m different files have been read now. Workers interleave, so
// they are not in the recorded order, but they are near its beginning: within its first w. Some reads are strangers
// (other jobs): one in 16. A read within w is then (15/16 n/w + 1/16) times as likely as in a random order, another one
// 1/16 times; the product over the m reads is the likelihood L. In a random order each factor has mean 1 (reads already
// seen change this by under m/n), so L is over 2^b with probability 2^-b at most. w is tried at m, 2m, 4m ... up to
// n/2, and each recorded epoch of each run; `bits` is log2 L less log2 of how many were tried. Ten reads of a run of
// 50,000 files with 4 workers, all within the first 320: 10 log2(15/16 * 156) - 7 = 65 bits.
class ReplayStore {
 public:
  // Makes the folder (mode 0700, and those above it), removes what is stale. kPermission: the folder, or the one above,
  // belongs to another user or others may write to it. kNoSpace, kIo: as the system says.
  static Result<std::unique_ptr<ReplayStore>> Open(const std::string& folder, std::shared_ptr<const Store> store,
                                                   const ReplayLimits& limits = {});
  ~ReplayStore();
  ReplayStore(const ReplayStore&) = delete;
  ReplayStore& operator=(const ReplayStore&) = delete;

  // A name for a new run, unlike any other: of the time and chance.
  static std::string NewName();

  // Writes the run under `name`, in place of what was there, and removes runs whose first epoch is the same (they are
  // this run, seen before) and the oldest until the limits hold. kNoSpace: the disk is full; then nothing is changed.
  Status Save(const std::string& name, const Run& run);
  // The run is used again: it is now the newest. kNotFound.
  Status Touch(const std::string& name);
  // kNotFound: it is gone, or was damaged (then it is now gone).
  Result<Run> Load(const std::string& name) const;
  // All runs, the newest first.
  std::vector<ReplayRun> List() const;
  Status Remove(const std::string& name);
  Status RemoveAll();

  // The recorded epochs that begin with the files in `seen`, in about that order, beyond chance (bits > 0), the best
  // first. `seen` are the first reads of a run; a file that comes again counts once. Reads at most 16 KiB an epoch.
  std::vector<ReplayMatch> Match(std::span<const EntryNumber> seen) const;
  // The same for reads from anywhere in an epoch (a run resumed in the middle of it). Reads all files.
  std::vector<ReplayMatch> MatchAnywhere(std::span<const EntryNumber> seen) const;

 private:
  ReplayStore(std::string folder, UniqueFd fd, const ReplayIdentity& identity, const ReplayLimits& limits);

  // Constant after construction.
  const std::string folder_;
  const UniqueFd fd_;
  const ReplayIdentity identity_;
  const ReplayLimits limits_;
};

}  // namespace augur
