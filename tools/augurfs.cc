// SPDX-License-Identifier: Apache-2.0
// augurfs STORE MOUNTPOINT: the daemon that serves a mount.
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/limited_log.h"
#include "base/units.h"
#include "fuse/holder.h"
#include "fuse/holder_link.h"
#include "fuse/program_start.h"
#include "fuse/session.h"
#include "fuse/writable_layer.h"
#include "store/store_files.h"
#include "tools/augurfs_options.h"
#include "tools/background.h"
#include "tools/control_endpoint.h"
#include "tools/daemon_log.h"
#include "tools/daemon_mount.h"
#include "tools/daemon_signals.h"
#include "tools/daemon_upgrade.h"
#include "tools/end_on_signal.h"
#include "tools/end_watchdog.h"
#include "tools/heap.h"
#include "tools/mount_stack.h"
#include "tools/mount_transport.h"
#include "tools/option_paths.h"
#include "tools/output.h"
#include "tools/service_manager.h"
#include "tools/store_place.h"
#include "tools/upgrade_options.h"

namespace augur {
namespace {

// What is under way at the end may take so long. A disk that is alive answers within a second; a network file system
// after a few.
constexpr std::chrono::seconds kEndMax(10);

std::string EndingOn(int signal) { return "ending on signal " + std::string(sigabbrev_np(signal)); }

// The process around a mount, from the parsed options to the mount's end: its log, its signals, the caller that waits
// for it, the holder that starts it, and the control socket. What serves the mount is MountStack.
class Daemon {
 public:
  // `link`: this program goes on with a mount that another one has made; else nullptr.
  Daemon(const AugurfsOptions& options, std::optional<Background> background, std::unique_ptr<HolderLink> link)
      : options_(options),
        background_(std::move(background)),
        log_(options, background_.has_value()),
        link_(std::move(link)) {}

  // Mounts and serves until the mount ends. OK: it was unmounted, by a signal or from outside. Where there is a holder,
  // this process is that, and Run returns in each daemon that it starts.
  Status Run() {
    AUGUR_TRY(options_.run_as.empty() ? log_.Start() : log_.StartWarning());
    AUGUR_TRY_ASSIGN(mount, DaemonMount::Prepare(options_, /*made=*/link_ != nullptr));
    mount_ = std::move(mount);
    if (mount_->layer_point() != nullptr && !link_) AUGUR_TRY(ForkLayer());
    if (options_.restart && !link_) AUGUR_TRY(StartHolder());
    Status status = RunHeld();
    if (layer_) layer_->GiveUp();  // nothing to do where it lies over the mount, or did
    // Nobody reads the streams of a daemon that goes on with a mount; before its turn, the one before it does.
    const bool is_first = !link_ || link_->task() == HolderLink::Task::kFirst || (is_next() && !has_turn_);
    if (!status.ok() && !is_first && !IsToldByMain()) spdlog::error("{}", status.text());
    if (link_) link_->Exiting(status.ok() ? kExitDone : kExitError);
    return status;
  }

 private:
  bool goes_on() const { return link_ != nullptr && link_->goes_on(); }
  // The daemon before this one.
  bool has_died() const { return link_ != nullptr && link_->task() == HolderLink::Task::kGoOn; }
  bool is_next() const { return link_ != nullptr && link_->task() == HolderLink::Task::kNext; }
  // A failure, on stderr, which is the log.
  bool IsToldByMain() const { return options_.foreground && options_.log_path.empty(); }

  Status ForkLayer() {
    Result<WritableLayer> layer = WritableLayer::Fork(
        *mount_->layer_point(),
        {.folder = mount_->writable(), .source = StoreForLog(options_.store), .noexec = options_.flags.noexec});
    if (!layer.ok()) {
      mount_->writable().Undo();
      return layer.status();
    }
    layer_ = std::move(layer).value();
    return Status::Ok();
  }

  Status StartHolder() {
    HolderOptions options;
    options.on_forked = [this] {
      mount_->LeaveFolder();
      if (layer_) layer_->Leave();
    };
    options.path = mount_->path();
    options.device = mount_->TakeHandedDown();
    options.leaves = background_.has_value();
    if (background_) options.caller = background_->TakeReady();
    std::error_code error;
    options.program = std::filesystem::read_symlink("/proc/self/exe", error);
    options.takes_other_programs = !mount_->run_as();
    Values values = options_.values;
    values.SetTexts("MOUNTPOINT", {mount_->shown_path()});
    if (layer_) values.SetTexts("-o writable", {mount_->writable().path()});
    options.command_line = [values = std::move(values)](const std::string& changes) {
      return UpgradeCommandLine(values, changes);
    };
    AUGUR_TRY_ASSIGN(link, Holder::Hold(std::move(options)));
    link_ = std::make_unique<HolderLink>(std::move(link));
    return Status::Ok();
  }

  Status RunHeld() {
    AUGUR_TRY_ASSIGN(signals, TakeSignals());
    if (link_) TellOfCrashes(*link_);
    if (link_) state_ = &link_->state();
    const bool is_made = link_ != nullptr && link_->task() != HolderLink::Task::kFirst;
    std::optional<std::string> made;
    if (is_made) made = link_->state().device_number.data();
    AUGUR_TRY(mount_->GiveUpRights(made, link_ != nullptr));
    if (is_made && background_ && !is_next()) AUGUR_TRY(log_.EnterAt(*mount_));
    if (link_ && link_->task() == HolderLink::Task::kGiveUp) return TellOfTheEnd();
    AUGUR_TRY(Prepare());
    AUGUR_TRY(mount_->Mount(link_ ? link_->TakeDevice() : mount_->TakeHandedDown()));
    if (link_ && !is_made) {
      link_->Mounted(mount_->device().get(), mount_->device_number(), stack_->IndexLock().get());
    }
    Status status = Serve(signals);
    if (hands_over_) return HandOver(signals);
    if (!status.ok() && IsFollowed()) LeaveToNext(status);
    if (link_) link_->Ending();
    watchdog_->Arm();
    if (!status.ok()) {
      const Status unmounted = mount_->Unmount();
      if (!unmounted.ok()) spdlog::error("{}", unmounted.text());
    }
    Stop();
    return status;
  }

  // The mount has ended with the daemons.
  Status TellOfTheEnd() const {
    return {Code::kStopped, Printable(mount_->path()) +
                                ": three daemons have died within ten seconds, so no other one is "
                                "started, and readers get errors: unmount, and mount again; the last one (process " +
                                std::to_string(link_->state().last_death.pid) + ") " +
                                DescribeDeath(link_->state().last_death)};
  }

  // Everything but the mount itself, so that what can fail fails before anybody sees a mount.
  Status Prepare() {
    if (mount_->run_as() && !(has_died() && background_)) AUGUR_TRY(log_.Start());
    if (has_died()) {
      spdlog::error("{}: the daemon of this mount (process {}) {}; going on in its place", Printable(mount_->path()),
                    link_->state().last_death.pid, DescribeDeath(link_->state().last_death));
    }
    AUGUR_TRY_ASSIGN(transport, MountTransport::Choose(options_.wire.transport, link_.get()));
    transport_ = std::move(transport);
    std::function<Status()> await_turn;
    if (is_next()) await_turn = [this] { return AwaitTurn(); };
    Succession succession = {.held = link_ ? &link_->state() : nullptr, .await_turn = await_turn};
    if (has_died()) succession.start = MountedGenerations::Start::kGoesOn;
    if (is_next()) succession.start = MountedGenerations::Start::kNext;
    if (link_) succession.device = link_->device();
    {
      std::unique_ptr<EndOnSignal> watch;  // none of a mount that is served: its daemon is told
      if (!is_next()) AUGUR_TRY(WatchForEnd(link_ ? link_->device() : -1, watch));
      AUGUR_TRY_ASSIGN(stack, MountStack::Make(options_, *mount_, succession, *transport_));
      stack_ = std::move(stack);
    }
    AUGUR_TRY_ASSIGN(watchdog, EndWatchdog::Start(kEndMax, [] { GiveUp(); }));
    watchdog_ = std::move(watchdog);
    if (link_) link_->Watch(watchdog_->thread_number());
    mount_->Watch(watchdog_->thread_number());
    if (background_ && !goes_on()) log_.FindPlace(*mount_);
    control_ = std::make_unique<ControlEndpoint>(
        ControlledMount{
            .options = options_, .mount = *mount_, .transport = *transport_, .stack = *stack_, .state = state_},
        log_.Describe());
    return Status::Ok();
  }

  Status WatchForEnd(int device, std::unique_ptr<EndOnSignal>& watch) {
    AUGUR_TRY_ASSIGN(started, EndOnSignal::Start(goes_on() ? device : -1, [this](int signal) {
                       if (goes_on()) EndUnserved(signal);
                       PrintError(kAugurfs, "stopped by SIG" + std::string(sigabbrev_np(signal)) +
                                                ": there is no mount yet, and nothing is left");
                       _exit(kExitError);
                     }));
    watch = std::move(started);
    return Status::Ok();
  }

  // On the thread of EndOnSignal, by one that goes on with the mount and does not serve it yet. Requests that came
  // meanwhile fail.
  [[noreturn]] void EndUnserved(int signal) {
    spdlog::info("{}: {}", Printable(mount_->path()), signal == 0 ? "unmounted" : EndingOn(signal));
    link_->Ending();
    EndAtOnce(signal == 0 ? Status::Ok() : mount_->Unmount());
  }

  // From here on the daemon before this one takes no request.
  Status AwaitTurn() {
    AUGUR_TRY(link_->AwaitTurn());
    has_turn_ = true;
    if (background_) AUGUR_TRY(log_.EnterAt(*mount_));
    const DaemonStop& before = link_->state().upgrade.stop;
    spdlog::info("{}: process {} of version {} hands the mount over to process {} of version " AUGUR_VERSION,
                 Printable(mount_->path()), before.process, before.version.data(), getpid());
    return Status::Ok();
  }

  // By the watchdog. The holder or the broker, which the kernel tells of our end, aborts the connection: readers get an
  // error even where a thread of ours hangs in the disk and cannot end.
  static void GiveUp() {
    constexpr unsigned kPatienceSeconds = 2;
    alarm(kPatienceSeconds);  // the log may lie on the same disk
    spdlog::error(
        "requests have not ended within {} s, because a disk does not answer or the processors are overloaded: ending "
        "without them; {}",
        kEndMax.count(), hands_over_at_end ? "the next daemon gets them again" : "files still open fail");
    _exit(kExitError);
  }

  Status Serve(const UniqueFd& signals) {
    std::function<void()> on_taking;
    if (goes_on()) {
      on_taking = [this] {
        link_->Takes();
        if (is_next()) NoteTaking(link_->state().upgrade);
      };
    }
    {
      std::unique_ptr<EndOnSignal> watch;  // over io_uring it waits for the end of the daemon before, and of its core
      if (goes_on()) AUGUR_TRY(WatchForEnd(mount_->device().get(), watch));
      AUGUR_TRY(stack_->Serve(mount_->TakeDevice(), transport_->TakeRings(), std::move(on_taking)));
    }
    const Session& session = stack_->session();
    DaemonUpgrade* const upgrade = control_->upgrade();
    bool serving = false;
    while (true) {
      std::array<pollfd, 4> ready = {
          {{.fd = signals.get(), .events = POLLIN, .revents = 0},
           {.fd = session.event_fd(), .events = POLLIN, .revents = 0},
           {.fd = link_ ? link_->fd() : -1, .events = POLLIN, .revents = 0},
           {.fd = upgrade != nullptr ? upgrade->event_fd() : -1, .events = POLLIN, .revents = 0}}};
      constexpr auto kTick = std::chrono::duration_cast<std::chrono::milliseconds>(LimitedLog::kPeriod);
      if (poll(ready.data(), ready.size(), int{kTick.count()}) < 0 && errno != EINTR) return ErrnoStatus(errno, "poll");
      ProcessLog().Tick();
      uint64_t count = 0;
      (void)!read(session.event_fd(), &count, sizeof count);
      if (!serving && session.state() == SessionState::kServing) {
        serving = true;
        AUGUR_TRY(transport_->Serving(session.over_uring()));
        AUGUR_TRY(stack_->StartAhead(mount_->TakeClone()));
        AUGUR_TRY(Announce());
        // Not before: it takes the whole line, and what the mount needs would wait for it.
        stack_->store()->files().FetchIndex();
      }
      if (session.state() == SessionState::kEnded) {
        ends_mount_ = true;
        if (!serving) return {Code::kIo, mount_->path() + ": the mount ended before it answered"};
        spdlog::info("{}: unmounted", Printable(mount_->path()));
        return Status::Ok();
      }
      for (int signal = NextSignal(signals); signal != 0; signal = NextSignal(signals)) {
        if (signal == SIGUSR1) {
          stack_->LogStatistics();
          continue;
        }
        // A caller that waits for the mount to answer must not take this for it.
        const bool awaited = background_.has_value() && !serving && !goes_on();
        AUGUR_TRY(EndMount(EndingOn(signal)));
        if (!awaited) return Status::Ok();
        return {Code::kStopped, Printable(mount_->path()) + ": stopped by SIG" + sigabbrev_np(signal) +
                                    ": there is no mount, and nothing is left"};
      }
      if (ready[3].revents != 0) {
        if (link_) NoteAsking(link_->state().upgrade);
        upgrade->PassOn(link_.get(), options_.restart);
      }
      if (ready[2].revents != 0) {
        const Result<HolderMessage> heard = link_->Hear();
        // It is what the caller runs, or waits for.
        if (!heard.ok() && (options_.foreground || !serving)) return EndMount("ending: " + heard.status().text());
        if (!heard.ok()) LoseHolder();
        if (heard.ok() && upgrade != nullptr) upgrade->Hear(*heard);
        hands_over_ = heard.ok() && heard->verb == HolderVerb::kHandOver;
        if (hands_over_) return Status::Ok();
      }
    }
  }

  // The next daemon is prepared: this one takes no more requests, answers what it has, and ends. The mount stays.
  Status HandOver(const UniqueFd& signals) {
    hands_over_at_end = true;
    watchdog_->Arm();
    NoteStopping(link_->state().upgrade);  // it may get no further
    control_->Stop();
    stack_->StopAhead();
    NoteStopping(link_->state().upgrade);
    stack_->HandOver();
    Status status;
    // What was sent to this process alone, which the next one does not get.
    int signal = NextSignal(signals);
    if (signal == SIGUSR1) signal = NextSignal(signals);  // the one with the lower number comes first
    const bool ends = signal != 0;
    if (ends) {
      status = EndMount(EndingOn(signal));
    } else {
      link_->HandedOver();
    }
    stack_->Stop();
    ProcessLog().Flush();
    if (ends) EndAtOnce(status);
    return status;
  }

  // Does not wait for the requests that hold the queues of io_uring back. The holder has them answered when this
  // process is gone: by the next daemon, or by ending the connection.
  [[noreturn]] void EndAtOnce(const Status& status) {
    if (!status.ok()) Tell(status);
    ProcessLog().Flush();
    const int exit_status = status.ok() ? kExitDone : kExitError;
    link_->Exiting(exit_status);
    _exit(exit_status);
  }

  void Tell(const Status& failure) const {
    if (IsToldByMain()) {
      (void)Fail(kAugurfs, failure);
    } else {
      spdlog::error("{}", failure.text());
    }
  }

  // Whether this daemon's failure is only its own: it goes on with the mount, has not yet said that it serves, and the
  // holder starts another one.
  bool IsFollowed() const { return goes_on() && !is_ready_ && !ends_mount_ && link_->Hear().ok(); }

  // The mount stays. What this one has taken over /dev/fuse is handed out again; over io_uring it is answered.
  [[noreturn]] void LeaveToNext(const Status& failure) {
    hands_over_at_end = true;
    watchdog_->Arm();
    control_->Stop();
    stack_->StopAhead();
    stack_->HandOver();
    EndAtOnce(failure);
  }

  Status EndMount(const std::string& why) {
    ends_mount_ = true;
    spdlog::info("{}: {}", Printable(mount_->path()), why);
    if (link_) link_->Ending();
    watchdog_->Arm();
    stack_->EndHelper();  // without a clone of the mount it may have it in use
    return mount_->Unmount();
  }

  // The mount goes on, with one daemon.
  void LoseHolder() {
    spdlog::warn("{}: the process augur-holder is gone: when this daemon dies, no other one goes on with the mount",
                 Printable(mount_->path()));
    link_.reset();
    // What was asked is not answered any more.
    if (DaemonUpgrade* const upgrade = control_->upgrade()) upgrade->PassOn(nullptr, options_.restart);
    mount_->AbortInTheEnd();
  }

  // The mount answers: says in the log what is mounted and how, and lets the caller go. Its streams are closed before:
  // who reads a pipe of the caller must see its end when the caller returns.
  Status Announce() {
    if (goes_on()) return GoOn();
    if (layer_) AUGUR_TRY(layer_->Mount(stack_->DescribeTree()));
    if (background_) {
      log_.TellCaller(*stack_);
      AUGUR_TRY(log_.Enter());
    }
    log_.SayMounted(*mount_, *stack_, *transport_, control_->problem());
    mount_->SetReadAhead(options_.read_ahead_bytes);
    if (!mount_->note().empty()) spdlog::info("{}", mount_->note());
    if (const std::optional<User>& user = mount_->run_as()) spdlog::info("serving as user {}", user->name);
    if (link_ && !KernelResends(link_->init())) {
      spdlog::info(
          "when the daemon dies the mount ends with it: only Linux 6.9 and later hand its requests to another one");
    }
    if (link_) AUGUR_TRY(link_->Ready());
    if (!link_ && background_) AUGUR_TRY(background_->Ready());
    if (!background_) TellServiceManagerReady();
    return Status::Ok();
  }

  Status GoOn() {
    if (is_next()) log_.SaySettings(*stack_, *transport_);
    if (stack_->generations().is_reload()) {
      const StoreSummary& summary = stack_->store()->summary();
      spdlog::info("{}: from now on generation {} is shown: {} files, {}", Printable(mount_->path()),
                   summary.generation, summary.file_count, FormatSize(summary.tree_bytes));
    }
    DaemonLog::SayNotes(*stack_, control_->problem());
    // Before the line: when that is there, a SIGKILL counts as one of a daemon that served.
    AUGUR_TRY(link_->Ready(stack_->IndexLock().get()));
    is_ready_ = true;
    spdlog::info("{}: the mount is served again, by process {}", Printable(mount_->path()), getpid());
    return Status::Ok();
  }

  // The operator first, whose commands may wait for what answers readers; then the mount.
  void Stop() {
    control_->Stop();
    stack_->StopAhead();
    stack_->Stop();
    ProcessLog().Flush();
  }

  const AugurfsOptions& options_;
  std::optional<Background> background_;
  DaemonLog log_;
  bool has_turn_ = false;    // the daemon before this one serves no more
  bool is_ready_ = false;    // one that goes on with the mount serves it
  bool hands_over_ = false;  // to the next one
  bool ends_mount_ = false;
  // For the watchdog's thread.
  static inline std::atomic<bool> hands_over_at_end = false;
  // In the order in which they are made.
  std::unique_ptr<DaemonMount> mount_;
  std::optional<WritableLayer> layer_;     // of -o writable=, in the first daemon
  std::unique_ptr<HolderLink> link_;       // nullptr: there is no holder, or it is gone
  const LastingState* state_ = nullptr;    // of the holder, also when that is gone; nullptr: there was none
  std::unique_ptr<EndWatchdog> watchdog_;  // destroyed after the stack, whose end it watches
  std::unique_ptr<MountTransport> transport_;
  std::unique_ptr<MountStack> stack_;
  std::unique_ptr<ControlEndpoint> control_;
};

Status Main(int argc, char** argv) {
  KeepHeapSmall();
  IgnoreBrokenPipe();
  // What another program than this one has inherited from the process augur-holder.
  AUGUR_TRY_ASSIGN(inherited, ReadInheritedWord(argc > 1 ? argv[1] : ""));
  if (inherited) argv[1] = std::exchange(argv[0], nullptr);
  const int skipped = inherited ? 1 : 0;
  AUGUR_TRY_ASSIGN(options, ParseAugurfs(argc - skipped, argv + skipped));
  if (!options.print.empty()) return WriteOut(options.print);
  AUGUR_TRY(ResolvePaths(options));
  std::unique_ptr<HolderLink> link;
  std::optional<Background> background;
  if (inherited) {
    (void)prctl(PR_SET_NAME, kAugurfs);  // a kernel before 6.14 has the number of its file there
    AUGUR_TRY_ASSIGN(linked, LinkOf(*inherited));
    link = std::make_unique<HolderLink>(std::move(linked));
    if (!options.foreground) background.emplace();  // the caller is gone
  } else if (!options.foreground) {
    AUGUR_TRY_ASSIGN(forked, Background::Fork(MountPoint::HandedDownFd(options.mountpoint)));
    background = std::move(forked);
  }
  // Memory that we allocate while a reader waits for us must not be got by writing to or shrinking our own mount. Only
  // with CAP_SYS_RESOURCE; without it nothing is lost but that.
  (void)prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
  Daemon daemon(options, std::move(background), std::move(link));
  return daemon.Run();
}

}  // namespace
}  // namespace augur

int main(int argc, char** argv) {
  const augur::Status status = augur::Main(argc, argv);
  if (status.ok()) return augur::kExitDone;
  return augur::Fail(augur::kAugurfs, status);
}
