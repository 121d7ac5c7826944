// SPDX-License-Identifier: Apache-2.0
#include "tools/record_copies.h"

#include <utility>

#include "remote/copied_shards.h"
#include "remote/fleet_shards.h"
#include "tools/store_place.h"

namespace augur {

bool HasShard(const Store& store, bool by_address) {
  for (uint32_t number = 0; number < store.summary().shard_count; ++number) {
    const Result<ShardInfo> info = store.Shard(number);
    if (info.ok() && info->address == by_address) return true;
  }
  return false;
}

Result<std::unique_ptr<RecordCopies>> RecordCopies::Open(const AugurfsOptions& options, const CopyMemory& memory,
                                                         std::shared_ptr<const Store> store, bool reads_server,
                                                         Statistics& statistics, std::vector<std::string>& notes) {
  std::unique_ptr<RecordCopies> copies(new RecordCopies(options, memory, std::move(store)));
  if (reads_server) {
    copies->OpenDisk(statistics, notes);
    AUGUR_TRY(copies->OpenFleet(statistics, notes));
    return copies;
  }
  if (!options.disk_cache.folder.empty()) {
    notes.push_back("disk-cache: not used: nothing of the store is on a server");
  }
  if (!options.remote.fleet.empty()) {
    notes.push_back("fleet-cache: not used: nothing of the store is on a server");
  }
  return copies;
}

// Without it the mount is as good, but asks the server again.
void RecordCopies::OpenDisk(Statistics& statistics, std::vector<std::string>& notes) {
  if (options_.disk_cache.folder.empty()) return;
  Result<std::unique_ptr<DiskCopy>> copy = DiskCopy::Open({.folder = options_.disk_cache.folder,
                                                           .bytes_max = options_.disk_cache.bytes,
                                                           .index_bytes_max = memory_.index_bytes,
                                                           .writing_bytes_max = memory_.writing_bytes},
                                                          store_, statistics, notes);
  if (!copy.ok()) return notes.push_back("no records are kept on the disk: disk-cache: " + copy.status().text());
  disk_ = std::move(copy).value();
  statistics.ReadFrom(Gauge::kDiskCacheBlocks, [this] { return disk_->counters().files; });
  statistics.ReadFrom(Gauge::kDiskCacheBytes, [this] { return disk_->counters().bytes; });
  statistics.Set(Gauge::kDiskCacheBytesMax, disk_->bytes_max());
}

// A wrong list is the user's mistake. Without a fleet the mount is as good, but asks the server for what others have.
Status RecordCopies::OpenFleet(Statistics& statistics, std::vector<std::string>& notes) {
  if (options_.remote.fleet.empty()) return Status::Ok();
  Result<std::unique_ptr<FleetCopy>> copy = FleetCopy::Open(
      {.list = options_.remote.fleet, .waiting_bytes_max = memory_.fleet_waiting_bytes}, store_, statistics);
  if (!copy.ok() && copy.status().code() != Code::kUnsupported) return copy.status().In("-o fleet-cache");
  if (!copy.ok()) {
    notes.push_back("fleet-cache: not used: " + copy.status().text());
    return Status::Ok();
  }
  fleet_ = std::move(copy).value();
  statistics.ReadFrom(Gauge::kFleetMembers, [this] { return fleet_->counts().members; });
  statistics.ReadFrom(Gauge::kFleetMembersOut, [this] { return fleet_->counts().out; });
  return Status::Ok();
}

std::unique_ptr<ShardSource> RecordCopies::MakeShards(ReadEngine& engine, ReadPurpose purpose) const {
  return store_->files().MakeSource(store_, engine, purpose, [&](std::unique_ptr<ShardSource> shards) {
    if (fleet_) shards = std::make_unique<FleetShards>(*fleet_, purpose, std::move(shards));
    if (disk_) shards = std::make_unique<CopiedShards>(*disk_, engine, std::move(shards));
    return shards;
  });
}

// What the copy on the disk has need not come from the server; and what comes for others is not for that copy.
std::unique_ptr<FleetSweep> RecordCopies::MakeSweep(ReadEngine& engine, std::vector<std::string>& notes) const {
  if (!fleet_ || options_.remote.fleet_self.none) return nullptr;
  if (!IsFarAway(options_.store) && HasShard(*store_, /*by_address=*/false)) {
    notes.push_back(
        "fleet-cache: this machine reads no share of the store for the others: a part of it is in a folder");
    return nullptr;
  }
  if (memory_.fleet_sweep_bytes < FleetSweep::kBytesMin) {
    notes.push_back("fleet-cache: this machine reads no share of the store for the others: too little memory=");
    return nullptr;
  }
  const auto through_copy = [&](std::unique_ptr<ShardSource> shards) -> std::unique_ptr<ShardSource> {
    if (!disk_) return shards;
    return std::make_unique<CopiedShards>(*disk_, engine, std::move(shards), CopiedShards::Use::kReadOnly);
  };
  return std::make_unique<FleetSweep>(
      *fleet_, store_, store_->files().MakeSource(store_, engine, ReadPurpose::kSpare, through_copy),
      FleetSweepOptions{.self = options_.remote.fleet_self, .bytes_max = memory_.fleet_sweep_bytes});
}

void RecordCopies::Stop(WriteBehind::Clock::time_point write_until) {
  if (disk_) disk_->Stop(write_until);
  if (fleet_) fleet_->Stop();
}

}  // namespace augur
