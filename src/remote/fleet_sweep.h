// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "base/mutex.h"
#include "fleet/fleet_self.h"
#include "remote/fleet_copy.h"
#include "remote/piece_fetch.h"
#include "remote/sweep_cursor.h"
#include "store/shard_source.h"

namespace augur {

struct FleetSweepOptions {
  FleetSelf self;
  uint64_t bytes_max = 0;  // memory for pieces, FleetSweep::kBytesMin at least
  // Which hosts are this machine; empty: IsThisMachine.
  std::function<bool(const std::string& host)> is_here = {};
  // How long a machine that has begun a piece keeps the others from it. In so long four pieces come over 1.1 MB/s.
  std::chrono::seconds claim{30};
};

// FleetSweep brings a store from its server to the fleet, once for all machines and in large requests. Each machine has
// a share: the pieces (SweepCursor) of which its server is the first by Rendezvous. A machine that is done with its own
// share reads the missing records of the pieces of which its server is the second, then the third, then of all. So the
// pieces of a machine that is slow, dead or not mounted come, too.
//   - Before a piece is read, the fleet is asked which of its records are there. So a machine that is started anew goes
//     on, and records that readers have given to the fleet are not read again.
//   - The machine that reads a piece leaves a note in the fleet (FleetClient::Note), which keeps the others away. After
//     FleetSweepOptions::claim the note is gone, also that of a machine that has died.
//   - The store's server is asked after all requests for which readers wait, and after the reads ahead. The servers of
//     the fleet are asked after all other requests to them. As few pieces are read at once as fill the line: bytes on
//     their way delay readers, and a reader may ask for the same bytes meanwhile.
//   - The sweep is over when all records are there, or no server takes more. The records of a server that is away, and
//     those for which a full one has no room, are left to the readers. A server that comes back, another list, and
//     pieces that another machine has begun make the sweep look again.
// One thread (augur-sweep). All methods are safe from any thread.
class FleetSweep {
 public:
  // Of one piece at a time, or a part of it.
  static constexpr uint64_t kBytesMin = uint64_t{2} << 20;
  // Of one request that is not cut, with what lies between its records.
  static constexpr uint64_t kFetchBytes = uint64_t{9} << 20;
  // Pieces at once, at most (SweepCursor::kPieceBytes).
  static constexpr uint64_t kFetches = 4;

  // `source` reads the store's server (ReadPurpose::kSpare). REQUIRES: copy outlives it, and is started before.
  FleetSweep(FleetCopy& copy, std::shared_ptr<const Store> store, std::unique_ptr<ShardSource> source,
             FleetSweepOptions options);
  ~FleetSweep() { Stop(); }
  FleetSweep(const FleetSweep&) = delete;
  FleetSweep& operator=(const FleetSweep&) = delete;

  // kNoSpace: the system gives no thread. REQUIRES: called once.
  Status Start();
  // Waits for the servers of the fleet, as long as they may take, and not for the store's.
  void Stop() AUGUR_EXCLUDES(mu_);

  // How far it is, for people.
  std::string Describe() const AUGUR_EXCLUDES(mu_);
  // Of this machine's own share, of 100.
  uint64_t percent() const AUGUR_EXCLUDES(mu_);

 private:
  enum class Phase { kIndex, kNoSelf, kOwn, kOthers, kDone, kFull, kFailed };
  // What became of a walk through the store.
  struct Walk {
    uint64_t refused = 0;    // pieces in a row of which no server took anything
    uint64_t failed = 0;     // in a row, which the store's server did not give
    bool must_look = false;  // pieces are left that others have begun, or that failed
    bool away = false;       // a server of the fleet did not answer
  };

  void Run() AUGUR_EXCLUDES(mu_);
  bool IsStopping() const AUGUR_EXCLUDES(mu_);
  // False: it is to stop.
  bool Sleep(std::chrono::milliseconds time) AUGUR_EXCLUDES(mu_);
  void Set(Phase phase, const std::string& cause = {}) AUGUR_EXCLUDES(mu_);
  Result<FleetAddress> FindSelf() const;

  // Goes through all pieces that the machine may take.
  Walk WalkOnce(const FleetAddress& self);
  bool IsOver(const Walk& walk) const;
  void Visit(const std::vector<WantedBlock>& piece, bool own, Walk& walk);
  // Whether this machine is the first at the piece.
  bool Claim(const FleetKey& name, bool own, Walk& walk);
  // A fetch that is idle, once fewer than `at_once` are not; nullptr: the sweep is to stop. May wait for reads, and put
  // their blocks into the fleet.
  PieceFetch* IdleFetch(uint64_t at_once, Walk& walk) AUGUR_EXCLUDES(mu_);
  // One that has read, nullptr: it is to stop.
  PieceFetch* WaitForRead() AUGUR_EXCLUDES(mu_);
  uint64_t CountBusy() const;
  void Adapt(std::chrono::milliseconds took);
  void PutTurn(PieceFetch& fetch, Walk& walk);
  void Tell(const Walk& walk);

  // Constant after construction, or with its own synchronization.
  FleetCopy& copy_;
  const std::shared_ptr<const Store> store_;
  const FleetSweepOptions options_;
  const std::unique_ptr<ShardSource> source_;

  // Used by the thread only.
  SweepCursor cursor_;
  std::vector<std::unique_ptr<PieceFetch>> fetches_;
  uint64_t at_once_ = 1;  // of them

  mutable Mutex mu_{LockRank::kMiddle};  // then that of a PieceFetch
  CondVar changed_;
  bool stopping_ AUGUR_GUARDED_BY(mu_) = false;
  Phase phase_ AUGUR_GUARDED_BY(mu_) = Phase::kIndex;
  std::string cause_ AUGUR_GUARDED_BY(mu_);  // for kNoSelf the cause; for kDone the end of Describe's text
  uint64_t percent_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t swept_bytes_ AUGUR_GUARDED_BY(mu_) = 0;  // that the store's server gave

  std::thread thread_;
};

}  // namespace augur
