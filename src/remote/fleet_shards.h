// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "remote/fleet_copy.h"
#include "remote/wanted_range.h"
#include "store/reads_under_way.h"
#include "store/shard_source.h"
#include "store/store_files.h"

namespace augur {

// FleetShards reads shards of a server of which the fleet has blocks. It asks the fleet for all blocks of a read, then
// the server for those that did not come in time, and offers these to the fleet. What lies between them is left out, in
// several requests where it must be: others need it, and a fleet asks the server for each byte once. A read of
// which no blocks are named goes to the server. Safe from any thread. REQUIRES: the copy outlives it. The server's
// source begins each range at the memory it is given, and needs no alignment (RemoteShards).
class FleetShards final : public ShardSource {
 public:
  FleetShards(FleetCopy& copy, ReadPurpose purpose, std::unique_ptr<ShardSource> server)
      : copy_(copy), urgent_(purpose == ReadPurpose::kDemand), server_(std::move(server)) {}

  // `reads` and `read_bytes` of a result are of the store's server alone: requests to the fleet do not count.
  void Read(ShardRead read) override;
  void Hurry(const void* tag) override { server_->Hurry(tag); }
  bool may_differ() const override { return true; }
  void Drain() override;

 private:
  // A read on its way. One thread at a time has it, but for the ends of its ranges.
  struct Job {
    ShardRead read;
    std::vector<bool> found;          // of each block: the fleet had it
    std::vector<WantedRange> ranges;  // that are asked of the server

    Mutex mu;
    size_t under_way AUGUR_GUARDED_BY(mu) = 0;  // of the ranges
    ShardReadResult result AUGUR_GUARDED_BY(mu);
  };
  using JobRef = std::shared_ptr<Job>;

  void ReadServer(const JobRef& job);
  void RangeRead(const JobRef& job, const WantedRange& range, const ShardReadResult& result);
  void Keep(const ShardRead& read, const WantedRange& range) const;
  void End(const JobRef& job, const ShardReadResult& result);

  // Own synchronization.
  FleetCopy& copy_;
  const bool urgent_;
  const std::unique_ptr<ShardSource> server_;

  ReadsUnderWay under_way_;
};

}  // namespace augur
