// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "augur/status.h"
#include "augur/store.h"
#include "io/read_engine.h"
#include "store/identity.h"
#include "store/manifest.h"
#include "store/shard_address.h"
#include "store/shard_source.h"

namespace augur {

// What shards are read for. A server is asked first for bytes that readers wait for, then for bytes that are read ahead
// for them. Bytes that other machines may need (kSpare) are asked for while nothing else waits.
enum class ReadPurpose { kDemand, kAhead, kSpare };

// StoreFiles are the files of one generation of a store, wherever they are kept: in a folder (LocalFiles), or on a
// server. Safe from any thread.
class StoreFiles {
 public:
  virtual ~StoreFiles() = default;
  // The index, open. In a folder it is locked against removal as long as a copy of this pointer lives.
  virtual const std::shared_ptr<const StoredFile>& index() const = 0;
  // What tells this index from every other one.
  virtual const IndexPlace& index_place() const = 0;
  // Opens the shard of a row and checks its size and, of an own shard, its header. Waits. kCorrupt: missing, or not as
  // it should be, or not allowed, by name and with the cure.
  virtual Result<std::shared_ptr<const StoredFile>> OpenShard(const ShardInfo& info) const = 0;
  // Whether the shard is there and has its size, without opening it. kNotFound: it is not there. kPermission: this
  // user may not read it, where that can be told. Waits.
  virtual Status LookAtShard(const ShardInfo& info) const = 0;
  // Makes the source that is asked before the server, such as a copy of records on the local disk, out of the server's.
  using BeforeServer = std::function<std::unique_ptr<ShardSource>(std::unique_ptr<ShardSource>)>;
  static std::unique_ptr<ShardSource> NothingBefore(std::unique_ptr<ShardSource> server) { return server; }
  // A reader of all shards that does not wait. `store` has these files; `engine` reads those that are files of this
  // system, and outlives the source. Where shards are on a server, `before_server` is called. May wait for the index.
  virtual std::unique_ptr<ShardSource> MakeSource(std::shared_ptr<const Store> store, ReadEngine& engine,
                                                  ReadPurpose purpose, const BeforeServer& before_server) const = 0;
  // Brings the missing bytes of the index from the server to this system, on threads of its own, until all are there.
  // Nothing to do for files of this system.
  virtual void FetchIndex() const {}
  // Bytes of the index that FetchIndex has not brought yet.
  virtual uint64_t MissingIndexBytes() const { return 0; }
};

// The requests to the server of a store, since the start, and whether it can be reached.
struct ServerTraffic {
  uint64_t requests = 0;      // sent, with retries and hedges
  uint64_t bytes = 0;         // of the bodies of all answers
  uint64_t retries = 0;       // requests after a failed one
  uint64_t hedges = 0;        // requests sent again because the first byte was late
  uint64_t slow_downs = 0;    // answers that asked to slow down
  uint64_t requests_max = 0;  // in flight, of those that no reader waits for
  bool down = false;          // it cannot be reached
};

// StorePlace is where a store is kept. Safe from any thread; calls wait.
class StorePlace {
 public:
  virtual ~StorePlace() = default;
  // As the user gave it, without secrets; for messages, and in front of relative locators.
  virtual const std::string& path() const = 0;

  struct Opened {
    Manifest manifest;
    std::unique_ptr<StoreFiles> files;  // nullptr: the index of that generation is not there
  };
  // Reads the manifest and opens the files of a generation; 0: of the one that the manifest names. kNotFound: no store.
  // kBusy: a program that removes old generations has locked the index. Failures do not name the place.
  virtual Result<Opened> Open(uint64_t generation) const = 0;
  // Whether the shard may be read, without a look at it. kPermission: the user has not allowed its address, with the
  // option that allows it. kUnsupported: it cannot be read from this place.
  virtual Status Allows(const ShardInfo& info) const { return info.address ? AddressNotAllowed(info) : Status::Ok(); }
  // Ends its threads until it or its files are used again, so that the process can fork. REQUIRES: no thread uses it.
  virtual void Rest() const {}
  // Begins them again, and waits for what they need first, so that no read has to.
  virtual void Resume() const {}
  // Nothing: the place is no server.
  virtual std::optional<ServerTraffic> Traffic() const { return std::nullopt; }
};

}  // namespace augur
