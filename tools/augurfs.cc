// SPDX-License-Identifier: Apache-2.0
// augurfs STORE MOUNTPOINT: the daemon that serves a mount.
#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "augur/foreign_folders.h"
#include "augur/store.h"
#include "base/limited_log.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/recycled_memory.h"
#include "base/units.h"
#include "cache/buffer_pool.h"
#include "cache/decoded_index.h"
#include "cache/record_cache.h"
#include "cache/retained_cache.h"
#include "cache/shared_folder.h"
#include "control/control_server.h"
#include "control/control_socket.h"
#include "control/statistics.h"
#include "fs/decode_pool.h"
#include "fs/decoded_files.h"
#include "fs/file_system.h"
#include "fuse/broker.h"
#include "fuse/mount_helper.h"
#include "fuse/mount_point.h"
#include "fuse/name_dropper.h"
#include "fuse/page_cache_pusher.h"
#include "fuse/session.h"
#include "io/read_engine.h"
#include "predict/order_predictor.h"
#include "prefetch/prefetcher.h"
#include "store/shard_check.h"
#include "tools/augurfs_options.h"
#include "tools/augurfs_settings.h"
#include "tools/background.h"
#include "tools/brokered_source.h"
#include "tools/control_commands/find_daemon.h"
#include "tools/daemon_control.h"
#include "tools/daemon_privileges.h"
#include "tools/daemon_signals.h"
#include "tools/end_watchdog.h"
#include "tools/group_number.h"
#include "tools/heap.h"
#include "tools/log_place.h"
#include "tools/output.h"
#include "tools/user_account.h"

namespace augur {
namespace {

constexpr const char* kProgram = "augurfs";

// Reads in flight at the disk. A disk like ours gives its most from 32 on (0.9 GB/s at depth 1, 2.2 at 32: facts), and
// each costs a buffer of up to 1 MiB and a bit while it lasts.
constexpr unsigned kReadsInFlight = 32;

// Enough for the shards, the segments of the largest decoded cache (1,024), and all else. Of it, for shards: a store of
// 1 TiB has as many.
constexpr rlim_t kDescriptorsMax = 8192;
constexpr rlim_t kDescriptorsMin = 1024;  // as many as every system gives
constexpr uint32_t kShardShare = 8;

// What is under way at the end may take so long. A disk that is alive answers within a second; a network file system
// after a few.
constexpr std::chrono::seconds kEndMax(10);

// Record bytes kept after use. The kernel asks for a block of 1 MiB in pieces of 128 KiB, so as many streams through
// large files as the kernel's queue holds (max-background, 64) find their block again.
constexpr uint64_t kIdleBytesMax = 64 * (kBlockBytes + BufferPool::kGranuleBytes);

// One mount, from the parsed options to its end. The members are in the order in which they are made.
class Daemon {
 public:
  Daemon(const AugurfsOptions& options, std::optional<Background> background)
      : options_(options), background_(std::move(background)) {}

  // Mounts and serves until the mount ends. OK: it was unmounted, by a signal or from outside.
  Status Run() {
    // Another user writes their own log.
    AUGUR_TRY(options_.run_as.empty() ? StartLogging() : StartWarning());
    AUGUR_TRY_ASSIGN(signals, TakeSignals());
    AUGUR_TRY(Prepare());
    AUGUR_TRY(Mount());
    Status status = Serve(signals);
    watchdog_->Arm();
    if (!status.ok()) {
      const Status unmounted = Unmount();
      if (!unmounted.ok()) spdlog::error("{}", unmounted.text());
    }
    Stop();
    return status;
  }

 private:
  // Until the mount answers, warnings go to the caller's stderr; what is said at every start waits for the log.
  Status StartLogging() {
    if (!options_.log_path.empty()) AUGUR_TRY(StartLog(kProgram, LogTarget::kFile, options_.log_path));
    if (background_) {
      AUGUR_TRY(StartWarning());
      log_ = {.target = LogTarget::kFile, .path = options_.log_path, .notice = {}};
    } else if (options_.log_path.empty()) {
      AUGUR_TRY(StartWarning());
      log_.target = LogTarget::kStderr;
    } else {
      log_ = {.target = LogTarget::kFile, .path = options_.log_path, .notice = {}};
    }
    return Status::Ok();
  }

  Status StartWarning() {
    AUGUR_TRY(StartLog(kProgram, LogTarget::kStderr));
    if (background_) spdlog::set_level(spdlog::level::warn);
    return Status::Ok();
  }

  // For the control socket, and for the log where there is no system log.
  std::vector<std::string> RuntimeFolders() const { return ControlFolders(geteuid(), UserVariable("XDG_RUNTIME_DIR")); }

  // Everything but the mount itself, so that what can fail fails before anybody sees a mount.
  Status Prepare() {
    AUGUR_TRY(PrepareMount());
    AUGUR_TRY_ASSIGN(memory, MachineMemory());
    Result<std::shared_ptr<const Store>> store =
        Store::Open(options_.store, {.direct = true,
                                     .open_shards_max = RaiseDescriptors() / kShardShare,
                                     .generation = options_.generation,
                                     .index_bytes_max = IndexBudget(MemoryBudget(options_, memory)),
                                     .root_hash = options_.root_hash});
    if (!store.ok()) return run_as_ ? ExplainUnreadable(store.status(), *run_as_) : store.status();
    store_ = std::move(store).value();
    if (run_as_) AUGUR_TRY(CheckReadable(*store_, *run_as_));
    TellMissingShards();
    const Machine machine = {.memory = memory, .cores = ResolveThreads(0), .uid = getuid(), .gid = getgid()};
    const uint64_t files = store_->summary().file_count;
    AUGUR_TRY_ASSIGN(settings, ResolveAugurfs(options_, machine,
                                              {.prediction_bytes = PredictionBytes(files),
                                               .order_bytes = Prefetcher::OrderBytes(files),
                                               .decoded_index_bytes = files * DecodedIndex::kBytesPerFile,
                                               .index_bytes = store_->IndexBytesMax()}));
    settings_ = std::move(settings);
    AUGUR_TRY(PrepareHelper());  // before there are threads
    AUGUR_TRY_ASSIGN(watchdog, EndWatchdog::Start(kEndMax, [this] { GiveUp(); }));
    watchdog_ = std::move(watchdog);
    pool_ = std::make_unique<BufferPool>(settings_.buffer_bytes);
    cache_ = std::make_unique<RecordCache>(*pool_, std::min(settings_.buffer_bytes / 2, kIdleBytesMax));
    AUGUR_TRY_ASSIGN(engine, MakeReadEngine(options_.io, kReadsInFlight));
    engine_ = std::move(engine);
    AUGUR_TRY(PreparePrefetch());
    OpenDecodedCache();
    RecycledMemory::KeepAtMost(settings_.recycled_bytes);
    AUGUR_TRY_ASSIGN(decode_pool, DecodePool::Start(settings_.decode_threads, settings_.demand_decode_threads));
    decode_pool_ = std::move(decode_pool);
    file_system_ = std::make_unique<FileSystem>(store_, *engine_, *cache_, statistics_,
                                                FileSystemOptions{.uid = settings_.uid,
                                                                  .gid = settings_.gid,
                                                                  .umask = options_.umask,
                                                                  .mount_user = getuid(),
                                                                  .hooks = prefetcher_.get(),
                                                                  .views = {.pool = decode_pool_.get(),
                                                                            .bytes_max = settings_.rendered_bytes,
                                                                            .root = options_.view,
                                                                            .decoded = decoded_.get(),
                                                                            .in_shared_memory = SharesMemory()}});
    PrepareGauges();
    PrepareControl();
    return Status::Ok();
  }

  bool SharesMemory() const {
    return retained_cache_ != nullptr && retained_cache_->place() == RetainedCache::Place::kShm;
  }

  // To the caller, who may have forgotten to copy one; and to the log, for whoever reads it later.
  void TellMissingShards() {
    constexpr size_t kTold = 3;
    const ShardCheck check = LookAtShards(*store_, kTold);
    if (check.bad == 0) return;
    shard_notes_.push_back(std::to_string(check.bad) + " of " + std::to_string(store_->summary().shard_count) +
                           " shards cannot be read, and their files will give EIO");
    shard_notes_.insert(shard_notes_.end(), check.texts.begin(), check.texts.end());
    for (const std::string& note : shard_notes_) spdlog::warn("{}", note);
  }

  // Checks the mount point, leaves what takes privileges to the broker, and gives them up.
  Status PrepareMount() {
    if (!options_.run_as.empty()) {
      AUGUR_TRY_ASSIGN(user, FindUser(options_.run_as));
      if (geteuid() != 0 && geteuid() != user.uid) {
        return {Code::kPermission, "-o run-as=" + user.name + ": only root can serve as another user"};
      }
      if (geteuid() == 0) run_as_ = std::move(user);
    }
    if (!options_.cache_group.empty()) {
      AUGUR_TRY_ASSIGN(number, GroupNumber(options_.cache_group));
      cache_group_ = number;
    }
    AUGUR_TRY_ASSIGN(mount_point, MountPoint::Check({.path = options_.mountpoint,
                                                     .source = options_.store,
                                                     .allow_other = options_.allow_other,
                                                     .noexec = options_.noexec,
                                                     .nosymfollow = options_.nosymfollow,
                                                     .owner = run_as_ ? run_as_->uid : getuid(),
                                                     .owner_group = run_as_ ? run_as_->gid : getgid()}));
    mount_point_ = std::make_unique<MountPoint>(std::move(mount_point));
    if (MountPoint::HandedDownFd(mount_point_->path()) < 0) {
      AUGUR_TRY_ASSIGN(broker, Broker::Fork(*mount_point_, {.clone = options_.predict}));
      broker_ = std::move(broker);
      mount_point_->LeaveFolder();  // the broker has it
      by_root_ = geteuid() == 0;
      if (by_root_) processes_ = std::make_unique<BrokeredSource>(*broker_);
    }
    AUGUR_TRY(GiveUpPrivileges(run_as_, cache_group_));
    return run_as_ ? StartLogging() : Status::Ok();
  }

  Status Mount() {
    if (!broker_) {
      mounted_.device = mount_point_->TakeDevice();
      return Status::Ok();
    }
    AUGUR_TRY_ASSIGN(mounted, broker_->Mount());
    mounted_ = std::move(mounted);
    return Status::Ok();
  }

  Status Unmount() {
    if (!broker_) return Status::Ok();  // who has handed the descriptor down unmounts
    AUGUR_TRY_ASSIGN(in_use, broker_->Unmount());
    if (in_use) {
      spdlog::warn("{}: the mount was in use: it is detached, and files still open will fail",
                   Printable(mount_point_->path()));
    }
    return Status::Ok();
  }

  // By the watchdog. The broker, which the kernel tells of our end, aborts the connection: readers get an error even
  // where a thread of ours hangs in the disk and cannot end.
  static void GiveUp() {
    constexpr unsigned kPatienceSeconds = 2;
    alarm(kPatienceSeconds);  // the log may lie on the same disk
    spdlog::error(
        "what is under way has not ended within {} s, as a disk does not answer: ending without it; files still open "
        "fail",
        kEndMax.count());
    _exit(kExitError);
  }

  // An environment variable that tells where the user's files are; empty where it is another user's.
  std::string UserVariable(const char* name) const {
    const char* const value = run_as_ ? nullptr : getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody changes it
    return value != nullptr ? value : "";
  }

  // A shard takes a descriptor, and a segment of the decoded cache too. Returns how many there may be.
  static uint32_t RaiseDescriptors() {
    rlimit descriptors{};
    if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return kDescriptorsMin;
    if (descriptors.rlim_cur < std::min(descriptors.rlim_max, kDescriptorsMax)) {
      const rlim_t before = std::exchange(descriptors.rlim_cur, std::min(descriptors.rlim_max, kDescriptorsMax));
      if (setrlimit(RLIMIT_NOFILE, &descriptors) != 0) descriptors.rlim_cur = before;
    }
    return static_cast<uint32_t>(std::min(descriptors.rlim_cur, kDescriptorsMax));
  }

  // Without it the mount is as good, but decodes again.
  void OpenDecodedCache() {
    if (options_.decoded_folder.empty()) return;
    Result<std::unique_ptr<DecodedFiles>> decoded =
        DecodedFiles::Open({.folder = options_.decoded_folder,
                            .bytes_max = options_.decoded_bytes,
                            .index_bytes_max = settings_.decoded_index_bytes,
                            .writing_bytes_max = settings_.decoded_writing_bytes},
                           statistics_, settings_.notes);
    if (decoded.ok()) {
      decoded_ = std::move(decoded).value();
    } else {
      settings_.notes.push_back("nothing that is decoded is kept on the disk: decoded-cache: " +
                                decoded.status().text());
    }
  }

  bool predicts() const { return settings_.chunk_bytes > 0; }

  Status PrepareHelper() {
    if (!predicts()) return Status::Ok();
    AUGUR_TRY_ASSIGN(helper, MountHelper::Fork(*store_));
    helper_ = std::move(helper);
    return Status::Ok();
  }

  Status PreparePrefetch() {
    if (!predicts()) return Status::Ok();
    if (settings_.kept_bytes > 0) {
      RetainedCache::Options options = {.place = RetainedCache::Place::kRam,
                                        .folder = {},
                                        .identity = options_.store,
                                        .store_path = options_.store,
                                        .bytes_max = settings_.kept_bytes + settings_.lent_bytes,
                                        .group = cache_group_,
                                        .outlives = options_.cache_outlives,
                                        .on_lost = [](const std::string& what) { spdlog::error("{}", what); },
                                        .memory_available = {}};
      if (options_.cache == CachePlace::kShm) {
        const Result<std::string> folder = SharedMemoryFolder(cache_group_);
        if (folder.ok()) {
          options.place = RetainedCache::Place::kShm;
          options.folder = *folder;
          for (const std::string& path : RetainedCache::SweepDebris(options.folder)) {
            settings_.notes.push_back(path + ": removed: the store whose records it held is gone");
          }
        } else {
          settings_.notes.push_back("the cache is in memory of this process, and goes with it: " +
                                    folder.status().text());
        }
      }
      Result<std::unique_ptr<RetainedCache>> retained_cache = RetainedCache::Open(options, settings_.notes);
      if (retained_cache.ok()) {
        retained_cache_ = std::move(retained_cache).value();
      } else {
        settings_.notes.push_back("nothing is kept from epoch to epoch: " + retained_cache.status().text());
      }
    }
    AUGUR_TRY_ASSIGN(engine, MakeReadEngine(options_.io, kReadsInFlight, 1));
    ahead_engine_ = std::move(engine);
    const auto left_bytes_max = [budget = settings_.memory_bytes] {
      const Result<MemoryRoom> room = MachineMemory();
      return room.ok() ? PagesToLeave(*room, budget) : 0;
    };
    prefetcher_ = std::make_unique<Prefetcher>(store_, *ahead_engine_, *cache_, retained_cache_.get(), statistics_,
                                               PrefetcherOptions{.kept_bytes_max = settings_.kept_bytes,
                                                                 .chunk_bytes = settings_.chunk_bytes,
                                                                 .stock_bytes_max = settings_.stock_bytes,
                                                                 .lent_bytes_max = settings_.lent_bytes,
                                                                 .order_bytes_max = settings_.order_bytes_max,
                                                                 .left_bytes_max = left_bytes_max,
                                                                 .keeps_read = options_.cache == CachePlace::kShm,
                                                                 .opens_asked = options_.observe == Observe::kOpen,
                                                                 .own_process = static_cast<uint32_t>(helper_->pid()),
                                                                 .reads_max = kReadsInFlight,
                                                                 .push_threads = ResolveThreads(0) > 4 ? 2U : 1U});
    if (settings_.prediction_bytes == 0) return Status::Ok();
    const std::string cache_home = UserVariable("XDG_CACHE_HOME");
    const std::string home = run_as_ ? run_as_->home : UserVariable("HOME");
    OrderPredictorOptions prediction;
    prediction.memory_bytes = settings_.prediction_bytes;
    prediction.replay_folder = ReplayFolderPath(cache_home.c_str(), home.c_str(), store_->path());
    prediction.processes = processes_.get();
    predictor_ = std::make_unique<OrderPredictor>(store_, *prefetcher_, statistics_, std::move(prediction));
    prefetcher_->SetAccessListener(
        {.read = [this](uint32_t view, EntryNumber file, uint32_t reader) { predictor_->SawRead(view, file, reader); },
         .opened = [this](uint32_t view, std::span<const EntryNumber> files) { predictor_->SawOpened(view, files); }});
    return Status::Ok();
  }

  // The mount answers: from now on it can be looked at from outside, and pages be pushed.
  Status StartPrefetch() {
    if (!prefetcher_) return Status::Ok();
    if (options_.stock) stocker_ = std::make_unique<PageCachePusher>(session_->notifications());
    AUGUR_TRY(prefetcher_->Start(stocker_.get(), helper_.get(), file_system_.get()));
    if (predictor_) {
      AUGUR_TRY(predictor_->Start());
    } else {
      spdlog::info("orders are not worked out, only given ones are followed: that takes memory={} or more",
                   FormatSize(kMemoryToPredict));
    }
    return helper_->AttachTo(
        mount_point_->path(), mounted_.device_number, std::move(mounted_.clone),
        [this](uint32_t view, std::span<const EntryNumber> files) { prefetcher_->OnOpened(view, files); });
  }

  // While requests are still answered, since a push may wait for an answer.
  void StopPrefetch() {
    if (control_) control_->GiveUp();
    control_server_.reset();
    if (predictor_) predictor_->Stop();
    if (prefetcher_) prefetcher_->Stop();
    helper_.reset();
  }

  void PrepareGauges() {
    statistics_.ReadFrom(Gauge::kBufferBytes, [this] { return pool_->used_bytes(); });
    statistics_.Set(Gauge::kBufferBytesMax, pool_->bytes_max());
    if (decoded_) {
      statistics_.ReadFrom(Gauge::kDecodedCacheFiles, [this] { return decoded_->counters().files; });
      statistics_.ReadFrom(Gauge::kDecodedCacheBytes, [this] { return decoded_->counters().bytes; });
      statistics_.Set(Gauge::kDecodedCacheBytesMax, decoded_->bytes_max());
    }
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
    statistics_.ReadFrom(Gauge::kIndexBytes, [this] { return store_->HeldIndexBytes(); });
    statistics_.Set(Gauge::kIndexBytesMax, store_->IndexBytesMax());
  }

  // The virtual files, and the socket that one of them names. Without a socket the mount is as good; augurctl says so.
  void PrepareControl() {
    if (background_ && options_.log_path.empty()) log_ = PlaceWithoutFile(mount_point_->path(), RuntimeFolders());
    const bool handed_down = MountPoint::HandedDownFd(mount_point_->path()) >= 0;
    Facts facts = {{"store", store_->path()},
                   {"generation", std::to_string(store_->summary().generation)},
                   {"reading_by", engine_->Description()},
                   {"log", log_.Describe()},
                   {"version", AUGUR_VERSION},
                   {"process", std::to_string(getpid())}};
    if (retained_cache_ && !retained_cache_->path().empty()) facts.emplace_back("shared_file", retained_cache_->path());
    control_ =
        std::make_unique<DaemonControl>(store_, statistics_,
                                        DaemonControlOptions{.mount_point = mount_point_->path(),
                                                             .order_prefix = handed_down ? "" : mount_point_->path(),
                                                             .facts = std::move(facts),
                                                             .prefetch = prefetcher_.get(),
                                                             .order_bytes_max = settings_.order_bytes_max,
                                                             .predictor = predictor_.get(),
                                                             .file_system = file_system_.get()});
    file_system_->AddVirtualFile("stats.json", [this] { return control_->Json(); });
    file_system_->AddVirtualFile("metrics", [this] { return control_->Metrics(); });
    Result<ControlSocket> socket = ControlSocket::Listen(RuntimeFolders());
    if (!socket.ok()) return NoControl(socket.status());
    Result<std::unique_ptr<ControlServer>> server =
        ControlServer::Start(std::move(socket).value(), control_->Handlers());
    if (!server.ok()) return NoControl(server.status());
    control_server_ = std::move(server).value();
    file_system_->AddVirtualFile(kControlFile, [path = control_server_->path() + "\n"] { return path; });
  }

  void NoControl(const Status& status) {
    settings_.notes.push_back("augurctl will not reach this mount: control socket: " + status.text());
  }

  Status Serve(const UniqueFd& signals) {
    const SessionOptions options = {.threads = settings_.threads,
                                    .operations = {.observe_open = options_.observe == Observe::kOpen,
                                                   .background_requests_max = options_.background_requests_max}};
    AUGUR_TRY_ASSIGN(session, Session::Make(std::move(mounted_.device), *file_system_, statistics_, options));
    session_ = std::move(session);
    AUGUR_TRY_ASSIGN(dropper, NameDropper::Start(session_->notifications()));
    dropper_ = std::move(dropper);
    file_system_->SetAskToForget([this](NodeId folder, const std::string& name) { dropper_->Ask(folder, name); });
    AUGUR_TRY(session_->Start());
    bool serving = false;
    while (true) {
      std::array<pollfd, 2> ready = {{{.fd = signals.get(), .events = POLLIN, .revents = 0},
                                      {.fd = session_->event_fd(), .events = POLLIN, .revents = 0}}};
      constexpr auto kTick = std::chrono::duration_cast<std::chrono::milliseconds>(LimitedLog::kPeriod);
      if (poll(ready.data(), ready.size(), int{kTick.count()}) < 0 && errno != EINTR) return ErrnoStatus(errno, "poll");
      ProcessLog().Tick();
      uint64_t count = 0;
      (void)!read(session_->event_fd(), &count, sizeof count);
      if (!serving && session_->state() == SessionState::kServing) {
        serving = true;
        AUGUR_TRY(StartPrefetch());
        if (decoded_) AUGUR_TRY(decoded_->Start());
        AUGUR_TRY(Announce());
      }
      if (session_->state() == SessionState::kEnded) {
        if (!serving) return {Code::kIo, mount_point_->path() + ": the mount ended before it answered"};
        spdlog::info("{}: unmounted", Printable(mount_point_->path()));
        return Status::Ok();
      }
      for (int signal = NextSignal(signals); signal != 0; signal = NextSignal(signals)) {
        if (signal == SIGUSR1) {
          LogStatistics();
          continue;
        }
        spdlog::info("{}: ending on signal {}", Printable(mount_point_->path()), sigabbrev_np(signal));
        watchdog_->Arm();
        if (helper_) helper_->End();  // without a clone of the mount it may have it in use
        return Unmount();
      }
    }
  }

  // The mount answers: says in the log what is mounted and how, and lets the caller go. Its streams are closed before:
  // who reads a pipe of the caller must see its end when the caller returns.
  Status Announce() {
    if (background_) {
      if (!log_.notice.empty()) spdlog::warn("{}", log_.notice);
      AUGUR_TRY(Background::Leave(log_.path));
      AUGUR_TRY(StartLog(kProgram, log_.target, log_.path));
      spdlog::set_level(spdlog::level::info);
    }
    const StoreSummary& summary = store_->summary();
    spdlog::info("{}: mounted {} generation {}: {} files, {}", Printable(mount_point_->path()),
                 Printable(store_->path()), summary.generation, summary.file_count, FormatSize(summary.tree_bytes));
    spdlog::info("reading by {}", engine_->Description());
    spdlog::info(
        "memory budget {}: {} for reads asked for, {} for reads ahead, {} for kept records, {} for files pushed "
        "ahead; {} threads",
        FormatSize(settings_.memory_bytes), FormatSize(settings_.buffer_bytes), FormatSize(settings_.chunk_bytes),
        FormatSize(settings_.kept_bytes), FormatSize(settings_.stock_bytes), settings_.threads);
    spdlog::info("files of views: {}; {} threads decode ahead, {} more what is waited for",
                 FormatSize(settings_.rendered_bytes), settings_.decode_threads, settings_.demand_decode_threads);
    if (options_.view) spdlog::info("the root is view {}", CanonicalSpec(*options_.view));
    if (background_) {
      for (const std::string& note : shard_notes_) spdlog::warn("{}", note);
    }
    for (const std::string& note : settings_.notes) spdlog::warn("{}", note);
    if (file_system_->HidesOwnFolder()) {
      spdlog::warn("{}: the store has a '{}' of its own in its root: the mount shows its own in its place",
                   Printable(store_->path()), VirtualFolder::kName);
    }
    if (by_root_ && !mounted_.device_number.empty()) {
      const Status status = broker_->SetReadAhead(options_.read_ahead_bytes);
      if (!status.ok()) spdlog::info("the kernel reads ahead as it likes: {}", status.text());
    }
    if (!mounted_.note.empty()) spdlog::info("{}", mounted_.note);
    if (run_as_) spdlog::info("serving as user {}", run_as_->name);
    return background_ ? background_->Ready() : Status::Ok();
  }

  void LogStatistics() {
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

  // The operator first, whose commands may wait for what answers readers; then requests, then what they stand on: no
  // read may be under way when the engine and the cache go.
  void Stop() {
    StopPrefetch();
    if (session_) session_->Stop();
    dropper_.reset();
    if (file_system_) file_system_->Settle();
    engine_.reset();
    ahead_engine_.reset();
    if (decoded_) decoded_->Stop();
    ProcessLog().Flush();
  }

  const AugurfsOptions& options_;
  std::optional<Background> background_;
  LogPlace log_;
  AugurfsSettings settings_;
  std::vector<std::string> shard_notes_;
  std::optional<User> run_as_;        // nothing: as who started us
  std::optional<gid_t> cache_group_;  // of -o cache-group=
  std::unique_ptr<MountPoint> mount_point_;
  std::unique_ptr<Broker> broker_;  // nullptr: the descriptor was handed down
  std::unique_ptr<BrokeredSource> processes_;
  bool by_root_ = false;  // the broker is root's
  Broker::Mounted mounted_;
  std::unique_ptr<EndWatchdog> watchdog_;
  Statistics statistics_;
  std::shared_ptr<const Store> store_;
  std::unique_ptr<MountHelper> helper_;
  std::unique_ptr<BufferPool> pool_;
  std::unique_ptr<RecordCache> cache_;
  std::unique_ptr<ReadEngine> engine_;
  std::unique_ptr<RetainedCache> retained_cache_;
  std::unique_ptr<ReadEngine> ahead_engine_;
  std::unique_ptr<PageCachePusher> stocker_;
  std::unique_ptr<Prefetcher> prefetcher_;
  std::unique_ptr<OrderPredictor> predictor_;
  std::unique_ptr<DecodedFiles> decoded_;
  std::unique_ptr<DecodePool> decode_pool_;
  std::unique_ptr<FileSystem> file_system_;
  std::unique_ptr<DaemonControl> control_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<NameDropper> dropper_;
  std::unique_ptr<ControlServer> control_server_;
};

// The absolute form of a path that exists, so that it stays right when the daemon leaves its working folder.
Status MakeAbsolute(std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  if (real == nullptr) return ErrnoStatus(errno, Printable(path));
  path = real.get();
  return Status::Ok();
}

// ... and of one that need not exist.
Status MakeNewPathAbsolute(std::string& path) {
  if (path.empty() || path[0] == '/') return Status::Ok();
  std::string folder = ".";
  AUGUR_TRY(MakeAbsolute(folder));
  path = folder + "/" + path;
  return Status::Ok();
}

Status Main(int argc, char** argv) {
  KeepHeapSmall();
  IgnoreBrokenPipe();
  AUGUR_TRY_ASSIGN(options, ParseAugurfs(argc, argv));
  if (!options.print.empty()) return WriteOut(options.print);
  AUGUR_TRY(MakeAbsolute(options.store));
  AUGUR_TRY(MakeNewPathAbsolute(options.log_path));
  AUGUR_TRY(MakeNewPathAbsolute(options.decoded_folder));
  for (std::string& folder : options.foreign) AUGUR_TRY(MakeNewPathAbsolute(folder));
  SetForeignFolders(options.foreign);
  std::optional<Background> background;
  if (!options.foreground) {
    AUGUR_TRY_ASSIGN(forked, Background::Fork(MountPoint::HandedDownFd(options.mountpoint)));
    background = std::move(forked);
  }
  // Memory that we allocate while a reader waits for us must not be got by writing to or shrinking our own mount. Only
  // with CAP_SYS_RESOURCE; without it nothing is lost but that.
  (void)prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
  Daemon daemon(options, std::move(background));
  return daemon.Run();
}

}  // namespace
}  // namespace augur

int main(int argc, char** argv) {
  const augur::Status status = augur::Main(argc, argv);
  if (status.ok()) return augur::kExitDone;
  augur::PrintError(augur::kProgram, status);
  return augur::kExitError;
}
