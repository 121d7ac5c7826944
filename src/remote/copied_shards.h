// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_memory.h"
#include "io/read_engine.h"
#include "remote/disk_copy.h"
#include "store/reads_under_way.h"
#include "store/shard_source.h"

namespace augur {

// CopiedShards reads shards of a server of which a DiskCopy has blocks. It asks the server for the shortest range that
// has all blocks that are not in the copy, and offers them to the copy when they have come. A block of the copy whose
// bytes are wrong is asked of the server. Safe from any thread. REQUIRES: copy and engine outlive it, and the engine
// ends its reads first. The server's source begins each range at the memory it is given, and needs no alignment
// (RemoteShards, FleetShards).
class CopiedShards final : public ShardSource {
 public:
  enum class Use { kKeep, kReadOnly };
  // `engine` reads the disk. kReadOnly: nothing is offered to the copy.
  CopiedShards(DiskCopy& copy, ReadEngine& engine, std::unique_ptr<ShardSource> server, Use use = Use::kKeep)
      : copy_(copy), engine_(engine), use_(use), server_(std::move(server)) {}

  // `reads` and `read_bytes` of a result are of the server alone: reads of the copy do not count.
  void Read(ShardRead read) override;
  void Hurry(const void* tag) override { server_->Hurry(tag); }
  void Cancel(const void* tag) override { server_->Cancel(tag); }
  bool may_differ() const override { return true; }
  void Drain() override;

 private:
  // A read on its way. One thread at a time has it.
  struct Job {
    ShardRead read;
    std::vector<std::optional<DiskCache::Place>> places;  // of each block; nothing: the server has it
    size_t next = 0;                                      // the block to read from the disk
    AlignedMemory memory;                                 // for one block, where the read's has neighbours
  };
  using JobRef = std::shared_ptr<Job>;

  void ReadCopy(const JobRef& job);
  void ReadPlace(const JobRef& job, const DiskCache::Place& place);
  void CopyRead(const JobRef& job, std::span<const std::byte> bytes);
  void ReadServer(const JobRef& job);
  void Keep(const Job& job) const;
  void End(const JobRef& job, const ShardReadResult& result);

  // Own synchronization.
  DiskCopy& copy_;
  ReadEngine& engine_;
  const Use use_;
  const std::unique_ptr<ShardSource> server_;

  ReadsUnderWay under_way_;
};

}  // namespace augur
