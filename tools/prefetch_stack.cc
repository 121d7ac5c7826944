// SPDX-License-Identifier: Apache-2.0
#include "tools/prefetch_stack.h"

#include <spdlog/spdlog.h>

#include <span>
#include <string>
#include <utility>

#include "base/memory.h"
#include "base/units.h"
#include "tools/daemon_privileges.h"
#include "tools/output.h"
#include "tools/store_place.h"

namespace augur {

Result<std::unique_ptr<PrefetchStack>> PrefetchStack::Fork(const PrefetchBase& base) {
  std::unique_ptr<PrefetchStack> stack(new PrefetchStack(base));
  const StorePlace& place = base.generations.place();
  place.Rest();  // of the other threads there is only augur-signals, which waits
  AUGUR_TRY_ASSIGN(helper, MountHelper::Fork(place, base.generations.shown()->summary().generation));
  stack->helper_ = std::move(helper);
  if (base.mount.hides_opens()) stack->helper_->LeaveOpens();
  place.Resume();
  return stack;
}

Status PrefetchStack::Make(RecordCache& cache, bool reads_server,
                           const std::function<std::unique_ptr<ShardSource>(ReadEngine& engine)>& make_shards) {
  OpenRetainedCache();
  AUGUR_TRY_ASSIGN(engine, MakeReadEngine(base_.options.io, kReadsInFlight, 1));
  engine_ = std::move(engine);
  shards_ = make_shards(*engine_);
  const auto reusable_bytes_max = [budget = base_.settings.memory_bytes] {
    const Result<MemoryRoom> room = MachineMemory();
    return room.ok() ? PagesForReuse(*room, budget) : 0;
  };
  const unsigned reads_max = reads_server ? base_.options.remote.requests_max : kReadsInFlight;
  prefetcher_ =
      std::make_unique<Prefetcher>(base_.generations.shown(), *shards_, cache, retained_.get(), base_.statistics,
                                   PrefetcherOptions{.retained_bytes_max = base_.settings.prefetch.retained_bytes,
                                                     .chunk_bytes = base_.settings.prefetch.staging_bytes,
                                                     .push_window_bytes_max = base_.settings.prefetch.push_window_bytes,
                                                     .lent_window_bytes_max = base_.settings.prefetch.lent_window_bytes,
                                                     .order_bytes_max = base_.settings.prefetch.order_bytes_max,
                                                     .reusable_bytes_max = reusable_bytes_max,
                                                     .page_cache_drops = [] { return PageCacheDrops().value_or(0); },
                                                     .retains_read = base_.options.cache.place == CachePlace::kShm,
                                                     .opens_asked = base_.options.observe == Observe::kOpen,
                                                     .opens_wanted = [this] { return base_.accesses.on(); },
                                                     .own_process = static_cast<uint32_t>(helper_->pid()),
                                                     .reads_max = reads_max,
                                                     .near_reads_max = reads_server ? reads_max : kReadsInFlightNear,
                                                     .far = reads_server,
                                                     .push_threads = ResolveThreads(0) > 4 ? 2U : 1U});
  archives_ = std::make_unique<ArchiveForesight>(*prefetcher_, base_.statistics);
  MakePredictor();
  return Status::Ok();
}

// Without it the mount is as good, but reads again in each epoch.
void PrefetchStack::OpenRetainedCache() {
  if (base_.settings.prefetch.retained_bytes == 0) return;
  const Store& store = *base_.generations.shown();
  RetainedCache::Options options = {
      .place = RetainedCache::Place::kRam,
      .folder = {},
      .identity = store.path(),
      .store_path = IsFarAway(base_.options.store) ? std::string() : store.path(),
      .bytes_max = base_.settings.prefetch.retained_bytes + base_.settings.prefetch.lent_window_bytes,
      .group = base_.mount.cache_group(),
      .outlives = base_.options.cache.outlives,
      .on_lost = [](const std::string& what) { spdlog::error("{}", what); },
      .memory_available = {}};
  if (base_.options.cache.place == CachePlace::kShm) {
    const Result<std::string>& folder = base_.mount.shared_folder();
    if (folder.ok()) {
      options.place = RetainedCache::Place::kShm;
      options.folder = *folder;
      for (const std::string& path : RetainedCache::SweepDebris(options.folder)) {
        base_.settings.notes.push_back(path + ": removed: the store whose records it held is gone");
      }
    } else {
      base_.settings.notes.push_back("cache=shm is not used, and the cache ends with this daemon: " +
                                     folder.status().text());
    }
  }
  Result<std::unique_ptr<RetainedCache>> retained_cache = RetainedCache::Open(options, base_.settings.notes);
  if (!retained_cache.ok()) {
    base_.settings.notes.push_back("no record is kept from epoch to epoch: " + retained_cache.status().text());
    return;
  }
  retained_cache_ = std::move(retained_cache).value();
  retained_ = std::make_unique<RetainedBlocks>(store, *retained_cache_);
  base_.statistics.ReadFrom(Gauge::kRetainedCacheBytes, [this] { return retained_cache_->used_bytes(); });
  base_.statistics.ReadFrom(Gauge::kRetainedCacheBytesMax, [this] { return retained_cache_->bytes_max(); });
  base_.statistics.ReadFrom(Gauge::kRetainedCacheBlocks, [this] { return retained_cache_->block_count(); });
  base_.statistics.ReadFrom(Gauge::kRetainedCacheTakenBytes, [this] { return retained_cache_->taken_bytes(); });
}

void PrefetchStack::MakePredictor() {
  if (base_.settings.prefetch.prediction_bytes == 0) return;
  OrderPredictorOptions prediction;
  prediction.memory_bytes = base_.settings.prefetch.prediction_bytes;
  prediction.lasting = base_.lasting;
  prediction.replay_folder = ReplayFolderPath(base_.mount.UserVariable("XDG_CACHE_HOME").c_str(),
                                              base_.mount.UserHome().c_str(), base_.generations.shown()->path());
  prediction.processes = base_.mount.processes();
  prediction.archive_lists = [this] { return archives_->Lists(); };
  orders_ = std::make_unique<OrderPredictor>(base_.generations.shown(), *prefetcher_, base_.statistics,
                                             std::move(prediction));
  base_.accesses.SetOnBegin([this] { prefetcher_->LookWhetherOpensAreWanted(); });
  prefetcher_->SetAccessListener({.read =
                                      [this](uint32_t view, EntryNumber file, uint32_t reader) {
                                        base_.accesses.Note(file, /*read=*/true);
                                        orders_->OnRead(view, file, reader);
                                      },
                                  .opened =
                                      [this](uint32_t view, std::span<const EntryNumber> files) {
                                        for (const EntryNumber file : files) base_.accesses.Note(file, /*read=*/false);
                                        orders_->OnOpened(view, files);
                                      }});
}

Status PrefetchStack::Start(Session& session, FileSystem& file_system, UniqueFd clone) {
  if (base_.options.push)
    pusher_ = std::make_unique<PageCachePusher>(session.notifications(), &base_.generations.numbers());
  AUGUR_TRY(prefetcher_->Start(pusher_.get(), helper_.get(), &file_system));
  if (orders_) {
    AUGUR_TRY(orders_->Start());
  } else {
    spdlog::info(
        "orders are not predicted, because that takes memory={} or more; only orders of 'augurctl hint' are followed",
        FormatSize(kMemoryToPredict));
  }
  return helper_->AttachTo(
      base_.mount.path(), base_.mount.device_number(), std::move(clone),
      [this](uint32_t view, std::span<const EntryNumber> files) { prefetcher_->OnOpened(view, files); });
}

void PrefetchStack::Stop() {
  if (orders_) orders_->Stop();
  prefetcher_->Stop();
  helper_.reset();
}

void PrefetchStack::EndReads() {
  shards_->Drain();
  engine_.reset();
}

}  // namespace augur
