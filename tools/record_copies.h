// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "cache/write_behind.h"
#include "control/statistics.h"
#include "io/read_engine.h"
#include "remote/disk_copy.h"
#include "remote/fleet_copy.h"
#include "remote/fleet_sweep.h"
#include "store/shard_source.h"
#include "store/store_files.h"
#include "tools/augurfs_options.h"
#include "tools/copy_memory.h"

namespace augur {

// RecordCopies is where else than on its server a mount finds records: in a folder of the local disk (-o disk-cache=),
// and on the servers of a fleet (-o fleet-cache=). Of a store with nothing on a server there are none. For one thread;
// what it makes says itself who may use it. REQUIRES: options and statistics outlive it.
class RecordCopies {
 public:
  // Each option that is not used as asked comes to `notes`, with the reason. kInvalid: the list of the fleet.
  static Result<std::unique_ptr<RecordCopies>> Open(const AugurfsOptions& options, const CopyMemory& memory,
                                                    std::shared_ptr<const Store> store, bool reads_server,
                                                    Statistics& statistics, std::vector<std::string>& notes);
  RecordCopies(const RecordCopies&) = delete;
  RecordCopies& operator=(const RecordCopies&) = delete;

  // The shards of the store, with the copies before its server. REQUIRES: this and the engine outlive them.
  std::unique_ptr<ShardSource> MakeShards(ReadEngine& engine, ReadPurpose purpose) const;
  // What fills the fleet; nullptr: this machine reads nothing for it. REQUIRES: as MakeShards.
  std::unique_ptr<FleetSweep> MakeSweep(ReadEngine& engine, std::vector<std::string>& notes) const;

  // Before the mount answers: the fleet. Once it does: the folder. kIo, kNoSpace: the system gives no thread.
  Status StartFleet() { return fleet_ ? fleet_->Start() : Status::Ok(); }
  Status StartDisk() { return disk_ ? disk_->Start() : Status::Ok(); }
  // What waits for the folder is written until then.
  void Stop(WriteBehind::Clock::time_point write_until);

 private:
  RecordCopies(const AugurfsOptions& options, const CopyMemory& memory, std::shared_ptr<const Store> store)
      : options_(options), memory_(memory), store_(std::move(store)) {}
  void OpenDisk(Statistics& statistics, std::vector<std::string>& notes);
  Status OpenFleet(Statistics& statistics, std::vector<std::string>& notes);

  const AugurfsOptions& options_;
  const CopyMemory memory_;
  const std::shared_ptr<const Store> store_;
  std::unique_ptr<DiskCopy> disk_;    // nullptr: there is none
  std::unique_ptr<FleetCopy> fleet_;  // nullptr: there is none
};

// Whether the store has a shard that is named by address, or one that is not.
bool HasShard(const Store& store, bool by_address);

}  // namespace augur
