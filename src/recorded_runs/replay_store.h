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
#include "datasets/order.h"
#include "recorded_runs/replay_file.h"
#include "recorded_runs/replay_folder.h"
#include "recorded_runs/replay_score.h"

namespace augur {

struct ReplayLimits {
  uint64_t run_bytes_max = uint64_t{64} << 20;     // of one run: later epochs are left out
  uint64_t load_bytes_max = uint64_t{1} << 30;     // of memory: a longer run is not loaded
  uint64_t store_bytes_max = uint64_t{256} << 20;  // of all runs of one store: the oldest goes
  size_t store_runs_max = 64;
  size_t stores_max = 256;  // beside each other: those that were not opened for longest go
};

// A recorded run, without its orders.
struct ReplayRun {
  std::string name;  // made by ReplayStore::NewName
  std::string finding;
  std::vector<uint64_t> epoch_files;  // of each recorded epoch
  int64_t time_sec = 0;               // when it was last written or touched, Unix time
  uint64_t bytes = 0;                 // on disk
};

// A recorded epoch that the run now seen may be in.
struct ReplayMatch {
  std::string run;   // name
  size_t epoch = 0;  // which of its recorded epochs
  double bits = 0;   // log2 of the likelihood against chance: BitsOfBeginning, less log2 of the number of epochs tried
};

// Where the orders of a store's runs are kept: $XDG_CACHE_HOME/augurfs/orders/HASH, or ~/.cache/augurfs/orders/HASH
// where the variable is not an absolute path. HASH is of the store's real path. Empty when `home` is not an absolute
// path either. Null pointers are variables that are not set.
std::string ReplayFolderPath(const char* xdg_cache_home, const char* home, const std::string& store_path);

// ReplayStore keeps the orders of runs that were seen on one store, a file a run, so that the same run is recognised
// when it comes again. Safe from any thread and beside other daemons: a file is replaced as a whole, and checked when
// it is read; a damaged one is removed and counts for nothing. An order names entries of one index, so runs of an
// earlier generation, or of another store that was in the same place, are removed as well. Removing the folder at any
// time does no harm but for the runs in it. Methods wait for the disk: not for threads that serve requests.
class ReplayStore {
 public:
  // See ReplayFolder::Open; the folders beside `folder` are trimmed (TrimReplayFolders). kUnsupported: a store of over
  // 2^32 entries.
  static Result<std::unique_ptr<ReplayStore>> Open(const std::string& folder, const StoreSummary& summary,
                                                   const ReplayLimits& limits = {});
  ReplayStore(const ReplayStore&) = delete;
  ReplayStore& operator=(const ReplayStore&) = delete;

  // A name for a new run, unlike any other.
  static std::string NewName() { return ReplayFolder::NewName(); }

  // Writes the run under `name`, in place of one of that name. Then removes runs that are the beginning of this one (it
  // was seen before), and the oldest until the limits hold. kNoSpace: the disk is full; nothing is changed. kInvalid: a
  // finding over kFindingBytesMax; entries that the store does not have; a name that NewName did not make.
  Status Save(const std::string& name, const Run& run);
  // The run is used again: it is now the newest. kNotFound.
  Status Touch(const std::string& name) { return folder_.Touch(name); }
  // kNotFound: it is gone, or was damaged and is gone now. kNoSpace: over load_bytes_max.
  Result<Run> Load(const std::string& name) const;
  // All runs, the newest first.
  Result<std::vector<ReplayRun>> List() const;
  // OK too when it is gone already.
  Status Remove(const std::string& name) { return folder_.Remove(name); }

  // The recorded epochs that begin with the files in `seen`, in about that order, beyond chance (bits > 0), the best
  // first. `seen` are the first reads of a run; a file that comes again counts once. Reads 16 KiB an epoch.
  Result<std::vector<ReplayMatch>> Match(std::span<const EntryNumber> seen) const;

 private:
  struct Recorded {
    ReplayFolder::File file;
    ReplayHead head;
  };

  ReplayStore(ReplayFolder folder, const ReplayIdentity& identity, const ReplayLimits& limits)
      : folder_(std::move(folder)), identity_(identity), limits_(limits) {}

  // All that can be used, the newest first; what can never be is removed.
  Result<std::vector<Recorded>> ReadHeads() const;

  // Constant after construction.
  const ReplayFolder folder_;
  const ReplayIdentity identity_;
  const ReplayLimits limits_;
};

}  // namespace augur
