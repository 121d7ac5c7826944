// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "cache/record_cache.h"
#include "cache/retained_cache.h"
#include "control/access_record.h"
#include "control/lasting_orders.h"
#include "control/statistics.h"
#include "fs/archive_foresight.h"
#include "fs/file_system.h"
#include "fuse/mount_helper.h"
#include "fuse/page_cache_pusher.h"
#include "fuse/session.h"
#include "io/read_engine.h"
#include "predict/order_predictor.h"
#include "prefetch/prefetcher.h"
#include "prefetch/retained_blocks.h"
#include "store/shard_source.h"
#include "tools/augurfs_options.h"
#include "tools/augurfs_settings.h"
#include "tools/daemon_mount.h"
#include "tools/mounted_generations.h"

namespace augur {

// Reads in flight at the disk. A disk like ours gives its most from 32 on (0.9 GB/s at depth 1, 2.2 at 32). Each costs
// a buffer of up to 1 MiB and a bit while it lasts. A shared file system far away needs more: with 30 ms and 110 KB a
// read, 128 are 470 MB/s.
inline constexpr unsigned kReadsInFlightNear = 32;
inline constexpr unsigned kReadsInFlight = 128;

// What a PrefetchStack stands on; all of it outlives it.
struct PrefetchBase {
  const AugurfsOptions& options;
  const DaemonMount& mount;
  AugurfsSettings& settings;  // gets notes
  Statistics& statistics;
  AccessRecord& accesses;  // of readers
  const MountedGenerations& generations;
  LastingOrders* lasting;  // as of OrderHandover
};

// PrefetchStack is the part of a MountStack that reads files ahead of requests, keeps them, and pushes them: from the
// helper process to the predictor. For one thread; its parts say themselves who may use them. Owns all of them.
class PrefetchStack {
 public:
  // Forks the helper. REQUIRES: this process has one thread. kIo: the system gives no process.
  static Result<std::unique_ptr<PrefetchStack>> Fork(const PrefetchBase& base);
  PrefetchStack(const PrefetchStack&) = delete;
  PrefetchStack& operator=(const PrefetchStack&) = delete;

  // Makes the rest. `reads_server`: the store, or a shard that it names by address, is on a server. As MakeReadEngine.
  Status Make(RecordCache& cache, bool reads_server,
              const std::function<std::unique_ptr<ShardSource>(ReadEngine& engine)>& make_shards);
  // The mount answers: from now on it can be looked at from outside, and pages be pushed. kNoSpace: the system gives no
  // thread.
  Status Start(Session& session, FileSystem& file_system, UniqueFd clone);
  // The helper, which may have the mount in use, ends.
  void EndHelper() {
    if (helper_) helper_->End();
  }
  // Ends reading ahead. READs are answered meanwhile, since a push may wait for one.
  void Stop();
  // No read may be under way when the cache goes. After Stop.
  void EndReads();

  ReadEngine& engine() { return *engine_; }
  Prefetcher& prefetcher() { return *prefetcher_; }
  ArchiveForesight& archives() { return *archives_; }
  // nullptr where no order is worked out, no record is kept.
  OrderPredictor* predictor() { return orders_.get(); }
  RetainedBlocks* retained() { return retained_.get(); }
  const RetainedCache* retained_cache() const { return retained_cache_.get(); }

 private:
  explicit PrefetchStack(const PrefetchBase& base) : base_(base) {}
  void OpenRetainedCache();
  void MakePredictor();

  const PrefetchBase base_;

  // In the order in which they are made.
  std::unique_ptr<MountHelper> helper_;
  std::unique_ptr<RetainedCache> retained_cache_;
  std::unique_ptr<RetainedBlocks> retained_;  // of retained_cache_
  std::unique_ptr<ReadEngine> engine_;
  std::unique_ptr<ShardSource> shards_;
  std::unique_ptr<PageCachePusher> pusher_;
  std::unique_ptr<Prefetcher> prefetcher_;
  std::unique_ptr<ArchiveForesight> archives_;
  std::unique_ptr<OrderPredictor> orders_;
};

}  // namespace augur
