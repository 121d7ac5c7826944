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
#include "remote/copied_shards.h"
#include "remote/fleet_shards.h"
#include "store/local_index.h"
#include "store/shard_check.h"
#include "store/store_files.h"
#include "tools/daemon_privileges.h"
#include "tools/output.h"
#include "tools/store_place.h"

namespace augur {
namespace {

// Reads in flight at the disk. A disk like ours gives its most from 32 on (0.9 GB/s at depth 1, 2.2 at 32: facts), and
// each costs a buffer of up to 1 MiB and a bit while it lasts. A shared file system far away needs more: with 30 ms and
// 110 KB a read, 64 are 235 MB/s.
constexpr unsigned kReadsInFlightNear = 32;
constexpr unsigned kReadsInFlight = 128;

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

// Whether the store has a shard that is named by address, or one that is not.
bool HasShard(const Store& store, bool by_address) {
  for (uint32_t number = 0; number < store.summary().shard_count; ++number) {
    const Result<ShardInfo> info = store.Shard(number);
    if (info.ok() && info->address == by_address) return true;
  }
  return false;
}

// nullptr: the kernel has no old name.
Result<std::unique_ptr<TreeRefresher>> RefreshNames(MountedGenerations& generations, const Session& session,
                                                    const FileSystem& file_system, bool shows_originals) {
  std::optional<MountedGenerations::OldNames> old = generations.TakeOldNames();
  if (!old) return std::unique_ptr<TreeRefresher>();
  if (old->before == nullptr) {
    spdlog::error("programs may still see names of an earlier generation, which is gone: unmount, and mount again");
    return std::unique_ptr<TreeRefresher>();
  }
  return TreeRefresher::Start(session.notifications(), {.before = std::move(old->before),
                                                        .after = generations.shown(),
                                                        .numbers = &generations.numbers(),
                                                        .folders = std::move(old->folders),
                                                        .views = file_system.Views(),
                                                        .shows_originals = shows_originals,
                                                        .done = [&generations] { generations.NamesAreNew(); }});
}

}  // namespace

Result<std::unique_ptr<MountStack>> MountStack::Make(const AugurfsOptions& options, const DaemonMount& mount,
                                                     const Succession& succession, MountTransport& transport) {
  std::unique_ptr<MountStack> stack(new MountStack(options, mount, succession.held));
  AUGUR_TRY(stack->OpenStore(succession, transport));
  if (stack->ReadsAhead()) {
    stack->generations_->place().Rest();  // there are no other threads yet
    AUGUR_TRY_ASSIGN(helper, MountHelper::Fork(stack->generations_->place(), stack->store_->summary().generation));
    stack->helper_ = std::move(helper);
    if (mount.hides_opens()) stack->helper_->LeaveOpens();
    stack->generations_->place().Resume();
  }
  AUGUR_TRY(stack->MakeCaches());
  if (stack->ReadsAhead()) {
    stack->OpenRetainedCache();
    AUGUR_TRY(stack->MakePrefetcher());
    stack->MakePredictor();
  }
  stack->MakeFleetSweep();
  stack->OpenDecodedCache();
  AUGUR_TRY(transport.MakeRings(stack->settings_.rings));
  if (succession.await_turn) AUGUR_TRY(succession.await_turn());
  AUGUR_TRY(stack->MakeFileSystem());
  stack->PublishGauges();
  if (succession.start == MountedGenerations::Start::kGoesOn) stack->statistics_.Add(Stat::kRestarts, 1);
  return stack;
}

Status MountStack::OpenStore(const Succession& succession, const MountTransport& transport) {
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
      MountedGenerations::Open(std::move(place), store_options, succession.held, succession.start, succession.device);
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
  OpenDiskCopy();
  AUGUR_TRY(OpenFleetCopy());
  shards_ = MakeShards(*engine_, ReadPurpose::kDemand);
  // Copies on the disk and on a fleet are named by the generation that is shown.
  generations_->OpenShards([this](const std::shared_ptr<const Store>& store) {
    return store->files().MakeSource(store, *engine_, ReadPurpose::kDemand, StoreFiles::NothingBefore);
  });
  RecycledMemory::KeepAtMost(settings_.views.recycled_bytes);
  return Status::Ok();
}

// Without it the mount is as good, but asks the server again.
void MountStack::OpenDiskCopy() {
  if (options_.disk_cache.folder.empty()) return;
  if (!reads_server_) {
    settings_.notes.push_back("disk-cache: not used: nothing of the store is on a server");
    return;
  }
  Result<std::unique_ptr<DiskCopy>> copy = DiskCopy::Open({.folder = options_.disk_cache.folder,
                                                           .bytes_max = options_.disk_cache.bytes,
                                                           .index_bytes_max = settings_.copy.index_bytes,
                                                           .writing_bytes_max = settings_.copy.writing_bytes},
                                                          store_, statistics_, settings_.notes);
  if (copy.ok()) {
    disk_copy_ = std::move(copy).value();
  } else {
    settings_.notes.push_back("no records are kept on the disk: disk-cache: " + copy.status().text());
  }
}

// A wrong list is the user's mistake. Without a fleet the mount is as good, but asks the server for what others have.
Status MountStack::OpenFleetCopy() {
  if (options_.remote.fleet.empty()) return Status::Ok();
  if (!reads_server_) {
    settings_.notes.push_back("fleet-cache: not used: nothing of the store is on a server");
    return Status::Ok();
  }
  Result<std::unique_ptr<FleetCopy>> copy = FleetCopy::Open(
      {.list = options_.remote.fleet, .waiting_bytes_max = settings_.copy.fleet_waiting_bytes}, store_, statistics_);
  if (copy.ok()) {
    fleet_copy_ = std::move(copy).value();
  } else if (copy.status().code() == Code::kUnsupported) {
    settings_.notes.push_back("fleet-cache: not used: " + copy.status().text());
  } else {
    return copy.status().In("-o fleet-cache");
  }
  return Status::Ok();
}

std::unique_ptr<ShardSource> MountStack::MakeShards(ReadEngine& engine, ReadPurpose purpose) {
  const auto with_copies = [&](std::unique_ptr<ShardSource> shards) {
    if (fleet_copy_) shards = std::make_unique<FleetShards>(*fleet_copy_, purpose, std::move(shards));
    if (disk_copy_) shards = std::make_unique<CopiedShards>(*disk_copy_, engine, std::move(shards));
    return shards;
  };
  return std::make_unique<MeteredShards>(store_->files().MakeSource(store_, engine, purpose, with_copies),
                                         meters_.reads);
}

// What the copy on the disk has need not come from the server; and what comes for others is not for that copy.
void MountStack::MakeFleetSweep() {
  if (!fleet_copy_ || options_.remote.fleet_self.none) return;
  if (!IsFarAway(options_.store) && HasShard(*store_, /*by_address=*/false)) {
    settings_.notes.push_back(
        "fleet-cache: this machine reads no share of the store for the others: a part of it is in a folder");
    return;
  }
  if (settings_.copy.fleet_sweep_bytes < FleetSweep::kBytesMin) {
    settings_.notes.push_back(
        "fleet-cache: this machine reads no share of the store for the others: too little memory=");
    return;
  }
  ReadEngine& engine = ahead_engine_ ? *ahead_engine_ : *engine_;
  const auto through_copy = [&](std::unique_ptr<ShardSource> shards) -> std::unique_ptr<ShardSource> {
    if (!disk_copy_) return shards;
    return std::make_unique<CopiedShards>(*disk_copy_, engine, std::move(shards), CopiedShards::Use::kReadOnly);
  };
  std::unique_ptr<ShardSource> shards = store_->files().MakeSource(store_, engine, ReadPurpose::kSpare, through_copy);
  fleet_sweep_ = std::make_unique<FleetSweep>(
      *fleet_copy_, store_, std::move(shards),
      FleetSweepOptions{.self = options_.remote.fleet_self, .bytes_max = settings_.copy.fleet_sweep_bytes});
}

std::function<std::string()> MountStack::FleetSweepFact() const {
  if (!fleet_sweep_) return {};
  return [sweep = fleet_sweep_.get()] { return sweep->Describe(); };
}

bool MountStack::SharesMemory() const {
  return retained_cache_ != nullptr && retained_cache_->place() == RetainedCache::Place::kShm;
}

// Without it the mount is as good, but reads again in each epoch.
void MountStack::OpenRetainedCache() {
  if (settings_.prefetch.kept_bytes == 0) return;
  RetainedCache::Options options = {.place = RetainedCache::Place::kRam,
                                    .folder = {},
                                    .identity = store_->path(),
                                    .store_path = IsFarAway(options_.store) ? std::string() : store_->path(),
                                    .bytes_max = settings_.prefetch.kept_bytes + settings_.prefetch.lent_bytes,
                                    .group = mount_.cache_group(),
                                    .outlives = options_.cache.outlives,
                                    .on_lost = [](const std::string& what) { spdlog::error("{}", what); },
                                    .memory_available = {}};
  if (options_.cache.place == CachePlace::kShm) {
    const Result<std::string>& folder = mount_.shared_folder();
    if (folder.ok()) {
      options.place = RetainedCache::Place::kShm;
      options.folder = *folder;
      for (const std::string& path : RetainedCache::SweepDebris(options.folder)) {
        settings_.notes.push_back(path + ": removed: the store whose records it held is gone");
      }
    } else {
      settings_.notes.push_back("cache=shm is not used, and the cache ends with this daemon: " +
                                folder.status().text());
    }
  }
  Result<std::unique_ptr<RetainedCache>> retained_cache = RetainedCache::Open(options, settings_.notes);
  if (retained_cache.ok()) {
    retained_cache_ = std::move(retained_cache).value();
    kept_ = std::make_unique<KeptBlocks>(*store_, *retained_cache_);
  } else {
    settings_.notes.push_back("no record is kept from epoch to epoch: " + retained_cache.status().text());
  }
}

Status MountStack::MakePrefetcher() {
  AUGUR_TRY_ASSIGN(engine, MakeReadEngine(options_.io, kReadsInFlight, 1));
  ahead_engine_ = std::move(engine);
  ahead_shards_ = MakeShards(*ahead_engine_, ReadPurpose::kAhead);
  const auto left_bytes_max = [budget = settings_.memory_bytes] {
    const Result<MemoryRoom> room = MachineMemory();
    return room.ok() ? PagesToLeave(*room, budget) : 0;
  };
  const unsigned reads_max = reads_server_ ? options_.remote.requests_max : kReadsInFlight;
  prefetcher_ =
      std::make_unique<Prefetcher>(store_, *ahead_shards_, *cache_, kept_.get(), statistics_,
                                   PrefetcherOptions{.kept_bytes_max = settings_.prefetch.kept_bytes,
                                                     .chunk_bytes = settings_.prefetch.staging_bytes,
                                                     .push_window_bytes_max = settings_.prefetch.push_window_bytes,
                                                     .lent_bytes_max = settings_.prefetch.lent_bytes,
                                                     .order_bytes_max = settings_.prefetch.order_bytes_max,
                                                     .left_bytes_max = left_bytes_max,
                                                     .keeps_read = options_.cache.place == CachePlace::kShm,
                                                     .opens_asked = options_.observe == Observe::kOpen,
                                                     .opens_wanted = [this] { return meters_.accesses.on(); },
                                                     .own_process = static_cast<uint32_t>(helper_->pid()),
                                                     .reads_max = reads_max,
                                                     .near_reads_max = reads_server_ ? reads_max : kReadsInFlightNear,
                                                     .far = reads_server_,
                                                     .push_threads = ResolveThreads(0) > 4 ? 2U : 1U});
  foresight_.archives = std::make_unique<ArchiveForesight>(*prefetcher_, statistics_);
  return Status::Ok();
}

void MountStack::MakePredictor() {
  if (settings_.prefetch.prediction_bytes == 0) return;
  OrderPredictorOptions prediction;
  prediction.memory_bytes = settings_.prefetch.prediction_bytes;
  prediction.replay_folder =
      ReplayFolderPath(mount_.UserVariable("XDG_CACHE_HOME").c_str(), mount_.UserHome().c_str(), store_->path());
  prediction.processes = mount_.processes();
  prediction.archive_lists = [this] { return foresight_.archives->Lists(); };
  foresight_.orders = std::make_unique<OrderPredictor>(store_, *prefetcher_, statistics_, std::move(prediction));
  meters_.accesses.SetOnBegin([this] { prefetcher_->LookWhetherOpensAreWanted(); });
  prefetcher_->SetAccessListener({.read =
                                      [this](uint32_t view, EntryNumber file, uint32_t reader) {
                                        meters_.accesses.Note(file, /*read=*/true);
                                        foresight_.orders->SawRead(view, file, reader);
                                      },
                                  .opened =
                                      [this](uint32_t view, std::span<const EntryNumber> files) {
                                        for (const EntryNumber file : files)
                                          meters_.accesses.Note(file, /*read=*/false);
                                        foresight_.orders->SawOpened(view, files);
                                      }});
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
                        .kept = kept_.get(),
                        .observer = prefetcher_.get(),
                        .archives = foresight_.archives.get(),
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
  if (disk_copy_) {
    statistics_.ReadFrom(Gauge::kDiskCacheBlocks, [this] { return disk_copy_->counters().files; });
    statistics_.ReadFrom(Gauge::kDiskCacheBytes, [this] { return disk_copy_->counters().bytes; });
    statistics_.Set(Gauge::kDiskCacheBytesMax, disk_copy_->bytes_max());
  }
  if (fleet_copy_) {
    statistics_.ReadFrom(Gauge::kFleetMembers, [this] { return fleet_copy_->counts().members; });
    statistics_.ReadFrom(Gauge::kFleetMembersOut, [this] { return fleet_copy_->counts().out; });
  }
  if (fleet_sweep_) statistics_.ReadFrom(Gauge::kFleetSweepPercent, [this] { return fleet_sweep_->percent(); });
  statistics_.ReadFrom(Gauge::kRenderedHeldBytes, [this] { return file_system_->rendered_bytes_used(); });
  if (retained_cache_) {
    statistics_.ReadFrom(Gauge::kRetainedCacheBytes, [this] { return retained_cache_->used_bytes(); });
    statistics_.ReadFrom(Gauge::kRetainedCacheBytesMax, [this] { return retained_cache_->bytes_max(); });
    statistics_.ReadFrom(Gauge::kRetainedCacheBlocks, [this] { return retained_cache_->block_count(); });
    statistics_.ReadFrom(Gauge::kRetainedCacheTakenBytes, [this] { return retained_cache_->taken_bytes(); });
  }
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
  if (fleet_copy_) AUGUR_TRY(fleet_copy_->Start());
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
  options.on_taking = std::move(on_taking);
  if (!mount_.handed_down()) options.mount_point = mount_.path();
  if (rings) options.operations.request_bytes_max = static_cast<unsigned>(settings_.rings.payload_bytes);
  AUGUR_TRY_ASSIGN(session, Session::Make(std::move(device), *file_system_, statistics_, options, std::move(rings)));
  session_ = std::move(session);
  AUGUR_TRY_ASSIGN(dropper, NameDropper::Start(session_->notifications()));
  dropper_ = std::move(dropper);
  file_system_->SetAskToForget([this](NodeId folder, const std::string& name) { dropper_->Ask(folder, name); });
  generations_->WriteDown();
  AUGUR_TRY(session_->Start());
  AUGUR_TRY_ASSIGN(refresher, RefreshNames(*generations_, *session_, *file_system_, !options_.view));
  refresher_ = std::move(refresher);
  return Status::Ok();
}

Status MountStack::StartAhead(UniqueFd clone) {
  if (prefetcher_) {
    if (options_.push) pusher_ = std::make_unique<PageCachePusher>(session_->notifications(), &generations_->numbers());
    AUGUR_TRY(prefetcher_->Start(pusher_.get(), helper_.get(), file_system_.get()));
    if (foresight_.orders) {
      AUGUR_TRY(foresight_.orders->Start());
    } else {
      spdlog::info(
          "orders are not predicted, because that takes memory={} or more; only orders of 'augurctl hint' are followed",
          FormatSize(kMemoryToPredict));
    }
    AUGUR_TRY(helper_->AttachTo(
        mount_.path(), mount_.device_number(), std::move(clone),
        [this](uint32_t view, std::span<const EntryNumber> files) { prefetcher_->OnOpened(view, files); }));
  }
  if (decoded_) AUGUR_TRY(decoded_->Start());
  if (fleet_sweep_) AUGUR_TRY(fleet_sweep_->Start());
  return disk_copy_ ? disk_copy_->Start() : Status::Ok();
}

void MountStack::EndHelper() {
  if (helper_) helper_->End();
}

void MountStack::StopAhead() {
  if (fleet_sweep_) fleet_sweep_->Stop();
  if (foresight_.orders) foresight_.orders->Stop();
  if (prefetcher_) prefetcher_->Stop();
  helper_.reset();
}

void MountStack::Stop() {
  if (session_) session_->Stop();
  dropper_.reset();
  refresher_.reset();
  if (generations_) generations_->Drain();
  if (shards_) shards_->Drain();
  if (ahead_shards_) ahead_shards_->Drain();
  engine_.reset();
  ahead_engine_.reset();
  const WriteBehind::Clock::time_point write_until = WriteBehind::Clock::now() + kWriteOnMax;
  if (decoded_) decoded_->Stop(write_until);
  if (disk_copy_) disk_copy_->Stop(write_until);
  if (fleet_copy_) fleet_copy_->Stop();
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
