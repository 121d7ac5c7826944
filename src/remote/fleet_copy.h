// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "control/statistics.h"
#include "fleet/fleet_client.h"
#include "store/shard_source.h"

namespace augur {

struct FleetCopyOptions {
  FleetList list;
  uint64_t waiting_bytes_max = 0;  // memory for blocks that wait to be sent
};

// FleetCopy keeps blocks of records that came from a server on the memcached servers of a fleet, for all machines that
// mount a store with the same records (FLEET.md). A block is named by Store::BlockIdentity and its size, and it is
// taken only after Store::CheckIdentity: no machine of the network can make readers get other bytes. Safe from any
// thread; nothing but Open, Start and Stop waits. Not for reading: FleetShards.
class FleetCopy {
 public:
  // Reads the list of servers. kInvalid, kIo: it is wrong. kUnsupported: the store is of version 1, whose checksums can
  // be forged. REQUIRES: statistics outlive it.
  static Result<std::unique_ptr<FleetCopy>> Open(FleetCopyOptions options, std::shared_ptr<const Store> store,
                                                 Statistics& statistics);
  FleetCopy(const FleetCopy&) = delete;
  FleetCopy& operator=(const FleetCopy&) = delete;

  // As FleetClient does. Before Start nothing is found.
  Status Start() { return client_->Start(); }
  void Stop() { client_->Stop(); }

  // A block, and where its bytes go.
  struct Place {
    WantedBlock block;
    std::byte* into = nullptr;  // until `done` is called
  };
  // Gets blocks from the fleet. `done` is called once, on a thread of the client or before this returns, and is told of
  // each place whether its block is at `into` now. `urgent`: a reader waits. While a part of the store's index is on
  // its way nothing is found, as Find does not wait for it.
  void Find(std::span<const Place> places, bool urgent, FleetRead::Done done);
  // Copies the block to be sent to the server that it belongs to, unless that is out or full, or the network does not
  // follow. The bytes need not be right: they are checked before they are sent.
  void Keep(const WantedBlock& wanted, std::span<const std::byte> bytes);

  // Says of each block whether the fleet has it. `done` as of Find. What cannot be named is away.
  void Look(std::span<const WantedBlock> blocks, std::function<void(const std::vector<FleetSight>&)> done);
  // Puts a block there, whose bytes are right (HasBytes) and stay until `done` is called. Counts it.
  void Put(const WantedBlock& wanted, std::span<const std::byte> bytes, std::function<void(FleetStored)> done);
  // Whether these are the bytes of the block.
  bool HasBytes(const WantedBlock& wanted, std::span<const std::byte> bytes) const;
  std::optional<FleetKey> KeyOf(const WantedBlock& wanted) const;

  FleetClient& client() const { return *client_; }
  Statistics& statistics() const { return statistics_; }
  FleetCounts counts() const { return client_->counts(); }

 private:
  FleetCopy(std::unique_ptr<FleetClient> client, std::shared_ptr<const Store> store, Statistics& statistics);
  bool IsRight(const WantedBlock& wanted, std::span<const std::byte> bytes) const;

  // Constant after construction, or with its own synchronization.
  const std::shared_ptr<const Store> store_;
  Statistics& statistics_;
  const std::unique_ptr<FleetClient> client_;
};

}  // namespace augur
