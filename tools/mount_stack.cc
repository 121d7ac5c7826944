// SPDX-License-Identifier: Apache-2.0
#include "tools/mount_stack.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/memory.h"
#include "base/recycled_memory.h"
#include "base/units.h"
#include "cache/disk_cache_index.h"
#include "cache/write_behind.h"
#include "fs/virtual_folder.h"
#include "prefetch/metered_shards.h"
#include "store/local_index.h"
#include "store/shard_check.h"
#include "store/store_files.h"
#include "tools/daemon_privileges.h"
#include "tools/output.h"
#include "tools/store_place.h"

namespace augur {
namespace {

// Enough for the shards, the segments of the largest caches on disk (1,024 each), and all else. Of it, for shards: a
// store of 1 TiB has as many.
constexpr rlim_t kDescriptorsMax = 8192;
constexpr rlim_t kDescriptorsMin = 1024;  // as many as every system gives
constexpr uint32_t kShardShare = 8;

// Record bytes kept after use. The kernel asks for a block of 1 MiB in pieces of 128 KiB, so as many streams through
// large files as the kernel's queue holds (max-background, 64) find their block again.
constexpr uint64_t kIdleBytesMax = 64 * (kBlockBytes + BufferPool::kGranuleBytes);

// The end writes for so long what waits for a cache on disk. Of the disk cache 32 MiB wait at most (copy_memory.cc),
// which a disk of 16 MB/s takes in that time. EndWatchdog gives the whole end five times as much.
constexpr std::chrono::seconds kWriteOnMax(2);

// A shard takes a descriptor, and a segment of a cache on disk too. Returns how many there may be.
uint32_t RaiseDescriptors() {
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return kDescriptorsMin;
  if (descriptors.rlim_cur < std::min(descriptors.rlim_max, kDescriptorsMax)) {
    const rlim_t before = std::exchange(descriptors.rlim_cur, std::min(descriptors.rlim_max, kDescriptorsMax));
    if (setrlimit(RLIMIT_NOFILE, &descriptors) != 0) descriptors.rlim_cur = before;
  }
  return static_cast<uint32_t>(std::min(descriptors.rlim_cur, kDescriptorsMax));
}

// nullptr: the kernel has no old name.
Result<std::unique_ptr<TreeRefresher>> RefreshNames(MountedGenerations& generations, const Session& session,
                                                    const FileSystem& file_system, bool shows_originals) {
  MountedGenerations::OldNames old = generations.TakeOldNames();
  if (old.generations.empty()) return std::unique_ptr<TreeRefresher>();
  return TreeRefresher::Start(session.notifications(), {.shown = generations.shown(),
                                                        .earlier = std::move(old.generations),
                                                        .numbers = &generations.numbers(),
                                                        .folders = std::move(old.folders),
                                                        .views = file_system.Views(),
                                                        .shows_originals = shows_originals,
                                                        .done = [&generations] { generations.NamesAreNew(); }});
}

}  // namespace

Result<std::unique_ptr<MountStack>> MountStack::Make(const AugurfsOptions& options, const DaemonMount& mount,
                                                     const MountTakeover& takeover, MountTransport& transport) {
  std::unique_ptr<MountStack> stack(new MountStack(options, mount, takeover.held));
  AUGUR_TRY(stack->OpenStore(takeover, transport));
  if (stack->settings_.prefetch.staging_bytes > 0) {
    AUGUR_TRY_ASSIGN(ahead,
                     PrefetchStack::Fork({.options = options,
                                          .mount = mount,
                                          .settings = stack->settings_,
                                          .statistics = stack->statistics_,
                                          .accesses = stack->meters_.accesses,
                                          .generations = *stack->generations_,
                                          .lasting = takeover.held != nullptr ? &takeover.held->orders : nullptr}));
    stack->ahead_ = std::move(ahead);
  }
  AUGUR_TRY(stack->MakeCaches());
  stack->OpenDecodedCache();
  AUGUR_TRY(transport.MakeRings(stack->settings_.rings));
  if (takeover.await_turn) AUGUR_TRY(takeover.await_turn());
  AUGUR_TRY(stack->MakeFileSystem());
  stack->PublishGauges();
  if (takeover.start == MountedGenerations::Start::kGoesOn) stack->statistics_.Add(Stat::kRestarts, 1);
  return stack;
}

Status MountStack::OpenStore(const MountTakeover& takeover, const MountTransport& transport) {
  AUGUR_TRY_ASSIGN(memory, MachineMemory());
  const StoreOptions store_options = {.direct = true,
                                      .open_shards_max = RaiseDescriptors() / kShardShare,
                                      .generation = options_.generation,
                                      .index_bytes_max = IndexBudget(MemoryBudget(options_, memory)),
                                      .root_hash = options_.root_hash};
  AUGUR_TRY_ASSIGN(place,
                   MakeStorePlace(options_.store, store_options, options_.remote,
                                  {.home = mount_.UserHome(),
                                   .copies = CacheFolder(mount_.UserVariable("XDG_CACHE_HOME"), mount_.UserHome())}));
  Result<std::unique_ptr<MountedGenerations>> generations =
      MountedGenerations::Open(std::move(place), store_options, takeover.held, takeover.start, takeover.device);
  const std::optional<User>& user = mount_.run_as();
  if (!generations.ok()) return user ? ExplainUnreadable(generations.status(), *user) : generations.status();
  generations_ = std::move(generations).value();
  store_ = generations_->shown();
  AUGUR_TRY(CheckAllowed(*store_, generations_->place(), "-o foreign="));
  // By the first daemon of this generation; readers wait.
  const bool was_looked_at = generations_->goes_on() && !generations_->is_reload();
  reads_server_ = IsFarAway(options_.store) || HasShard(*store_, /*by_address=*/true);
  if (IsFarAway(options_.store)) {
    // Brings the part of the index that the first question of the kernel needs, while the connection is there: it ends
    // when the helper process is forked.
    (void)store_->Find(VirtualFolder::kName);
  } else if (user && !was_looked_at) {
    AUGUR_TRY(CheckReadable(*store_, *user));
  }
  const Machine machine = {.memory = memory,
                           .cores = ResolveThreads(0),
                           .ring_queues = transport.queues(),
                           .kept_rings = transport.kept(),
                           .uid = getuid(),
                           .gid = getgid()};
  const uint64_t files = store_->summary().file_count;
  const uint64_t blocks = files + store_->summary().record_bytes / kBlockBytes;
  AUGUR_TRY_ASSIGN(settings,
                   ResolveAugurfs(options_, machine,
                                  {.prediction_bytes = PredictionBytes(files),
                                   .order_bytes = Prefetcher::OrderBytes(files),
                                   .decoded_index_bytes = files * DiskCacheIndex::kBytesPerFile,
                                   .copy_index_bytes = reads_server_ ? blocks * DiskCacheIndex::kBytesPerFile : 0,
                                   .far_away = reads_server_,
                                   .index_bytes = store_->IndexBytesMax()}));
  settings_ = std::move(settings);
  if (!IsFarAway(options_.store) && !was_looked_at) FindMissingShards();
  return Status::Ok();
}

UniqueFd MountStack::IndexLock() const {
  const auto index = std::dynamic_pointer_cast<const LocalIndex>(store_->files().index());
  return index != nullptr ? index->Lock() : UniqueFd();
}

// The caller may have forgotten to copy one.
void MountStack::FindMissingShards() {
  constexpr size_t kTold = 3;
  const ShardCheck check = LookAtShards(*store_, kTold);
  if (check.bad == 0) return;
  std::vector<std::string>& notes = settings_.notes;
  notes.push_back(std::to_string(check.bad) + " of " + std::to_string(store_->summary().shard_count) +
                  " shards cannot be read, and their files will give EIO");
  notes.insert(notes.end(), check.texts.begin(), check.texts.end());
}

Status MountStack::MakeCaches() {
  pool_ = std::make_unique<BufferPool>(settings_.buffer_bytes);
  cache_ = std::make_unique<RecordCache>(*pool_, std::min(settings_.buffer_bytes / 2, kIdleBytesMax));
  AUGUR_TRY_ASSIGN(engine, MakeReadEngine(options_.io, kReadsInFlight));
  engine_ = std::move(engine);
  AUGUR_TRY_ASSIGN(copies,
                   RecordCopies::Open(options_, settings_.copy, store_, reads_server_, statistics_, settings_.notes));
  copies_ = std::move(copies);
  shards_ = MakeShards(*engine_, ReadPurpose::kDemand);
  // Copies on the disk and on a fleet are named by the generation that is shown.
  generations_->OpenShards([this](const std::shared_ptr<const Store>& store) {
    return store->files().MakeSource(store, *engine_, ReadPurpose::kDemand, StoreFiles::NothingBefore);
  });
  RecycledMemory::KeepAtMost(settings_.views.recycled_bytes);
  if (ahead_) {
    AUGUR_TRY(ahead_->Make(*cache_, reads_server_,
                           [this](ReadEngine& ahead) { return MakeShards(ahead, ReadPurpose::kAhead); }));
  }
  fleet_sweep_ = copies_->MakeSweep(ahead_ ? ahead_->engine() : *engine_, settings_.notes);
  return Status::Ok();
}

std::unique_ptr<ShardSource> MountStack::MakeShards(ReadEngine& engine, ReadPurpose purpose) {
  return std::make_unique<MeteredShards>(copies_->MakeShards(engine, purpose), meters_.reads);
}

std::function<std::string()> MountStack::FleetSweepFact() const {
  if (!fleet_sweep_) return {};
  return [sweep = fleet_sweep_.get()] { return sweep->Describe(); };
}

std::string MountStack::SharedFile() const {
  const RetainedCache* const cache = ahead_ ? ahead_->retained_cache() : nullptr;
  return cache != nullptr ? cache->path() : "";
}

bool MountStack::SharesMemory() const {
  const RetainedCache* const cache = ahead_ ? ahead_->retained_cache() : nullptr;
  return cache != nullptr && cache->place() == RetainedCache::Place::kShm;
}

// Without it the mount is as good, but decodes again.
void MountStack::OpenDecodedCache() {
  if (options_.decoded_cache.folder.empty()) return;
  Result<std::unique_ptr<DecodedFiles>> decoded =
      DecodedFiles::Open({.folder = options_.decoded_cache.folder,
                          .bytes_max = options_.decoded_cache.bytes,
                          .index_bytes_max = settings_.views.decoded_index_bytes,
                          .writing_bytes_max = settings_.views.decoded_writing_bytes},
                         statistics_, settings_.notes);
  if (decoded.ok()) {
    decoded_ = std::move(decoded).value();
  } else {
    settings_.notes.push_back("decoded images are not kept on the disk: decoded-cache: " + decoded.status().text());
  }
}

Status MountStack::MakeFileSystem() {
  AUGUR_TRY_ASSIGN(decode_pool,
                   DecodePool::Start(settings_.views.decode_threads, settings_.views.demand_decode_threads));
  decode_pool_ = std::move(decode_pool);
  file_system_ = std::make_unique<FileSystem>(
      store_, *shards_, *cache_, statistics_,
      FileSystemOptions{.uid = settings_.uid,
                        .gid = settings_.gid,
                        .umask = options_.umask,
                        .mount_user = getuid(),
                        .retained = ahead_ ? ahead_->retained() : nullptr,
                        .observer = prefetcher(),
                        .archives = ahead_ ? &ahead_->archives() : nullptr,
                        .views = {.pool = decode_pool_.get(),
                                  .bytes_max = settings_.views.rendered_bytes,
                                  .archive_tables_bytes_max = settings_.views.archive_tables_bytes,
                                  .gathered_reads_max = settings_.views.gathered_reads,
                                  .root = options_.view,
                                  .decoded = {.files = decoded_.get(), .engine = engine_.get()},
                                  .in_shared_memory = SharesMemory(),
                                  .lasting = held_ != nullptr ? &held_->views : nullptr},
                        .numbers = &generations_->numbers(),
                        .sequence = generations_->sequence(),
                        .earlier = generations_->earlier()});
  return Status::Ok();
}

void MountStack::PublishGauges() {
  statistics_.ReadFrom(Gauge::kBufferBytes, [this] { return pool_->used_bytes(); });
  statistics_.Set(Gauge::kBufferBytesMax, pool_->bytes_max());
  if (decoded_) {
    statistics_.ReadFrom(Gauge::kDecodedCacheFiles, [this] { return decoded_->counters().files; });
    statistics_.ReadFrom(Gauge::kDecodedCacheBytes, [this] { return decoded_->counters().bytes; });
    statistics_.Set(Gauge::kDecodedCacheBytesMax, decoded_->bytes_max());
  }
  if (fleet_sweep_) statistics_.ReadFrom(Gauge::kFleetSweepPercent, [this] { return fleet_sweep_->percent(); });
  statistics_.ReadFrom(Gauge::kRenderedHeldBytes, [this] { return file_system_->rendered_bytes_used(); });
  statistics_.ReadFrom(Gauge::kMemoryBytes, [] {
    const Result<ProcessMemoryUse> memory = ProcessMemory();
    return memory.ok() ? memory->anonymous_bytes + memory->shared_bytes : 0;
  });
  statistics_.Set(Gauge::kMemoryBytesMax, settings_.memory_bytes);
  const StoreSummary& summary = store_->summary();
  statistics_.Set(Gauge::kStoreFiles, summary.file_count);
  statistics_.Set(Gauge::kStoreImages, summary.image_count);
  statistics_.Set(Gauge::kStoreBytes, summary.tree_bytes);
  statistics_.ReadFrom(Gauge::kIndexBytes, [this] { return store_->HeldIndexBytes(); });
  statistics_.Set(Gauge::kIndexBytesMax, store_->IndexBytesMax());
  if (generations_->place().Traffic()) PublishTraffic();
}

void MountStack::PublishTraffic() {
  const auto publish = [this](Gauge gauge, auto field) {
    statistics_.ReadFrom(
        gauge, [this, field] { return uint64_t{generations_->place().Traffic().value_or(ServerTraffic{}).*field}; });
  };
  publish(Gauge::kServerRequests, &ServerTraffic::requests);
  publish(Gauge::kServerBytes, &ServerTraffic::bytes);
  publish(Gauge::kServerRetries, &ServerTraffic::retries);
  publish(Gauge::kServerHedges, &ServerTraffic::hedges);
  publish(Gauge::kServerSlowDowns, &ServerTraffic::slow_downs);
  publish(Gauge::kServerRequestsMax, &ServerTraffic::requests_max);
  publish(Gauge::kServerDown, &ServerTraffic::down);
  statistics_.ReadFrom(Gauge::kIndexMissingBytes, [this] { return store_->files().MissingIndexBytes(); });
}

Status MountStack::Serve(UniqueFd device, std::unique_ptr<UringTransport> rings, std::function<void()> on_taking) {
  AUGUR_TRY(copies_->StartFleet());
  SessionOptions options = {.threads = settings_.threads,
                            .operations = {.observe_open = options_.observe == Observe::kOpen,
                                           .background_requests_max = options_.wire.background_requests_max}};
  if (generations_->goes_on()) {
    options.init = std::span(held_->init).first(held_->init_bytes.load(std::memory_order_acquire));
    options.init_reply = std::span(held_->init_reply).first(held_->init_reply_bytes);
  } else if (held_ != nullptr) {
    options.on_init = [this](std::span<const std::byte> init, std::span<const std::byte> reply) {
      // Then no daemon goes on with this mount.
      if (init.size() > held_->init.size() || reply.size() > held_->init_reply.size()) return;
      std::ranges::copy(init, held_->init.begin());
      std::ranges::copy(reply, held_->init_reply.begin());
      held_->init_reply_bytes = static_cast<uint32_t>(reply.size());
      held_->init_bytes.store(static_cast<uint32_t>(init.size()), std::memory_order_release);
    };
  }
  // Not before: until then this daemon can fail, and the mount shows what it did.
  options.on_taking = [this, on_taking = std::move(on_taking)] {
    if (on_taking) on_taking();
    generations_->WriteDown();
  };
  if (!mount_.handed_down()) options.mount_point = mount_.path();
  if (rings) options.operations.request_bytes_max = static_cast<unsigned>(settings_.rings.payload_bytes);
  AUGUR_TRY_ASSIGN(session, Session::Make(std::move(device), *file_system_, statistics_, options, std::move(rings)));
  session_ = std::move(session);
  AUGUR_TRY_ASSIGN(dropper, NameDropper::Start(session_->notifications()));
  dropper_ = std::move(dropper);
  file_system_->SetAskToForget([this](NodeId folder, const std::string& name) { dropper_->Ask(folder, name); });
  if (!generations_->goes_on()) generations_->WriteDown();
  AUGUR_TRY(session_->Start());
  AUGUR_TRY_ASSIGN(refresher, RefreshNames(*generations_, *session_, *file_system_, !options_.view));
  refresher_ = std::move(refresher);
  return Status::Ok();
}

Status MountStack::StartAhead(UniqueFd clone) {
  if (ahead_) AUGUR_TRY(ahead_->Start(*session_, *file_system_, std::move(clone)));
  if (decoded_) AUGUR_TRY(decoded_->Start());
  if (fleet_sweep_) AUGUR_TRY(fleet_sweep_->Start());
  return copies_->StartDisk();
}

void MountStack::EndHelper() {
  if (ahead_) ahead_->EndHelper();
}

void MountStack::StopAhead() {
  if (fleet_sweep_) fleet_sweep_->Stop();
  if (ahead_) ahead_->Stop();
}

void MountStack::HandOver() {
  if (session_) session_->HandOver();
}

void MountStack::Stop() {
  if (session_) session_->Stop();
  dropper_.reset();
  refresher_.reset();
  if (generations_) generations_->Drain();
  if (shards_) shards_->Drain();
  if (ahead_) ahead_->EndReads();
  engine_.reset();
  const WriteBehind::Clock::time_point write_until = WriteBehind::Clock::now() + kWriteOnMax;
  if (decoded_) decoded_->Stop(write_until);
  if (copies_) copies_->Stop(write_until);
}

std::string MountStack::DescribeTree() const {
  const StoreSummary& summary = store_->summary();
  const Hash128& id = summary.index_id;
  std::string text = "generation " + std::to_string(summary.generation) + "\nindex ";
  text += summary.root_hash ? HexOf(*summary.root_hash) : std::to_string(id.high) + "-" + std::to_string(id.low);
  text += "\n";
  if (options_.view) text += "view " + CanonicalSpec(*options_.view) + "\n";
  return text;
}

void MountStack::LogStatistics() const {
  const StatisticsSnapshot snapshot = statistics_.Snapshot();
  for (const StatDefinition& row : kStatDefinitions) {
    spdlog::info("statistics: {} {} {}", row.name, snapshot[row.id], row.unit);
  }
  for (const GaugeDefinition& row : kGaugeDefinitions) {
    spdlog::info("statistics: {} {} {}", row.name, snapshot[row.id], row.unit);
  }
  const CacheCounters cache = cache_->counters();
  spdlog::info("statistics: cache hits {} misses {} failures {} evicted {} waits {}", cache.hits, cache.misses,
               cache.failures, cache.evicted, cache.waits);
  spdlog::info("statistics: buffers used {} touched {} limit {} bytes", pool_->used_bytes(), pool_->touched_bytes(),
               pool_->bytes_max());
  const Result<ProcessMemoryUse> memory = ProcessMemory();
  if (memory.ok()) {
    spdlog::info("statistics: memory {} of {} bytes", memory->anonymous_bytes + memory->shared_bytes,
                 settings_.memory_bytes);
  }
  spdlog::info("statistics: index {} bytes", store_->summary().index_bytes);
}

}  // namespace augur
