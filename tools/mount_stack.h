// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "augur/store.h"
#include "cache/buffer_pool.h"
#include "cache/record_cache.h"
#include "control/access_record.h"
#include "control/statistics.h"
#include "fs/decode_pool.h"
#include "fs/decoded_files.h"
#include "fs/file_system.h"
#include "fuse/lasting_state.h"
#include "fuse/name_dropper.h"
#include "fuse/session.h"
#include "fuse/tree_refresher.h"
#include "fuse/uring_transport.h"
#include "io/read_engine.h"
#include "predict/order_predictor.h"
#include "prefetch/prefetcher.h"
#include "prefetch/read_meter.h"
#include "remote/fleet_sweep.h"
#include "store/shard_source.h"
#include "store/store_files.h"
#include "tools/augurfs_options.h"
#include "tools/augurfs_settings.h"
#include "tools/daemon_mount.h"
#include "tools/mount_transport.h"
#include "tools/mounted_generations.h"
#include "tools/prefetch_stack.h"
#include "tools/record_copies.h"

namespace augur {

// What a daemon takes over of its mount, and when.
struct MountTakeover {
  LastingState* held = nullptr;  // what the Holder keeps, which outlives the stack; nullptr: there is none
  MountedGenerations::Start start = MountedGenerations::Start::kFirst;
  int device = -1;  // of /dev/fuse, to ask the kernel what it knows; -1: there is none yet.
  // Called once all is made that takes long or does not depend on what the daemon before still does; empty: that one
  // has died, or there was none.
  std::function<Status()> await_turn = {};
};

// MountStack is what serves one mount, from the store to the FUSE session, each part standing on those before it. It is
// made from the options, the store's generation, a descriptor of /dev/fuse and the LastingState alone, so a daemon that
// goes on with a mount makes it anew. It knows nothing of the background, the log's place, signals or privileges.
//
// For one thread, which makes it, starts it and stops it; its parts say themselves who may use them. Owns all of them.
class MountStack {
 public:
  // Opens the store and makes all that stands on it, but for the session; forks the helper before there is a thread.
  // Whatever can fail for a reason that the user can mend fails here, before anybody sees a mount. `mount` tells whose
  // mount it is; it and the options outlive the stack. The rings of `transport` are made. kChanged: another store is
  // there than the daemon before had.
  static Result<std::unique_ptr<MountStack>> Make(const AugurfsOptions& options, const DaemonMount& mount,
                                                  const MountTakeover& takeover, MountTransport& transport);
  MountStack(const MountStack&) = delete;
  MountStack& operator=(const MountStack&) = delete;

  // Begins to answer requests of the descriptor, over `rings` if there are some and the kernel offers it. `on_taking`:
  // SessionOptions. kIo: the system gives no thread.
  Status Serve(UniqueFd device, std::unique_ptr<UringTransport> rings, std::function<void()> on_taking);
  // The mount answers: from now on it can be looked at from outside, and pages be pushed. REQUIRES: called once, after
  // session().state() turned kServing.
  Status StartAhead(UniqueFd clone);
  // The helper, which may have the mount in use, ends.
  void EndHelper();
  // To hand the mount over or to end: ends reading ahead. READs are answered meanwhile, since a push may wait for one.
  void StopAhead();
  // As Session::HandOver; nothing to do without a session. After StopAhead.
  void HandOver();
  // Ends the session, then what it stands on: no read may be under way when the engine and the cache go. Then writes
  // for two seconds at most what waits for a cache on disk. After StopAhead.
  void Stop();

  const std::shared_ptr<const Store>& store() const { return store_; }
  const MountedGenerations& generations() const { return *generations_; }
  const AugurfsSettings& settings() const { return settings_; }
  const Statistics& statistics() const { return statistics_; }
  // A descriptor that keeps this generation of the store from being removed; invalid: there is none.
  UniqueFd IndexLock() const;
  const ReadEngine& engine() const { return *engine_; }
  FileSystem& file_system() { return *file_system_; }
  // Of readers, while the mount works out orders.
  AccessRecord& accesses() { return meters_.accesses; }
  // nullptr where nothing is read ahead, or no order is worked out.
  Prefetcher* prefetcher() { return ahead_ ? &ahead_->prefetcher() : nullptr; }
  OrderPredictor* predictor() { return ahead_ ? ahead_->predictor() : nullptr; }
  // Of a retained cache in shared memory; else empty.
  std::string SharedFile() const;
  // What tells how far the sweep is; empty: this machine reads nothing for a fleet.
  std::function<std::string()> FleetSweepFact() const;
  // To look at its state, and to have it take no more requests. REQUIRES: Serve has returned OK.
  Session& session() { return *session_; }
  // Things not as asked, and why: shards that cannot be read, a cache that is not used. For the caller and the log.
  const std::vector<std::string>& notes() const { return settings_.notes; }
  // Which tree the mount shows, for an overlay over it: WritableFolder::Claim.
  std::string DescribeTree() const;
  // Writes every statistic to the log.
  void LogStatistics() const;

 private:
  MountStack(const AugurfsOptions& options, const DaemonMount& mount, LastingState* held)
      : options_(options), mount_(mount), held_(held), statistics_(held != nullptr ? &held->statistics : nullptr) {}

  Status OpenStore(const MountTakeover& takeover, const MountTransport& transport);
  void FindMissingShards();
  Status MakeCaches();
  bool SharesMemory() const;
  void OpenDecodedCache();
  std::unique_ptr<ShardSource> MakeShards(ReadEngine& engine, ReadPurpose purpose);
  Status MakeFileSystem();
  void PublishGauges();
  void PublishTraffic();

  struct Meters {
    ReadMeter reads;        // of shards_, and ahead of readers
    AccessRecord accesses;  // of readers
  };

  const AugurfsOptions& options_;
  const DaemonMount& mount_;
  LastingState* const held_;
  AugurfsSettings settings_;
  bool reads_server_ = false;  // the store, or a shard that it names by address, is on a server

  // In the order in which they are made.
  Statistics statistics_;
  Meters meters_{.reads = ReadMeter(statistics_), .accesses = {}};
  std::unique_ptr<MountedGenerations> generations_;
  std::shared_ptr<const Store> store_;  // that is shown
  std::unique_ptr<BufferPool> pool_;
  std::unique_ptr<RecordCache> cache_;
  std::unique_ptr<RecordCopies> copies_;
  std::unique_ptr<ReadEngine> engine_;
  std::unique_ptr<ShardSource> shards_;
  std::unique_ptr<PrefetchStack> ahead_;  // nullptr: nothing is read ahead
  std::unique_ptr<FleetSweep> fleet_sweep_;
  std::unique_ptr<DecodedFiles> decoded_;
  std::unique_ptr<DecodePool> decode_pool_;
  std::unique_ptr<FileSystem> file_system_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<NameDropper> dropper_;
  std::unique_ptr<TreeRefresher> refresher_;
};

}  // namespace augur
