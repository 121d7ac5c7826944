// SPDX-License-Identifier: Apache-2.0
#include "tools/daemon.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/limited_log.h"
#include "base/units.h"
#include "fuse/holder.h"
#include "fuse/session.h"
#include "store/store_files.h"
#include "tools/daemon_signals.h"
#include "tools/daemon_upgrade.h"
#include "tools/output.h"
#include "tools/service_manager.h"
#include "tools/store_place.h"
#include "tools/upgrade_options.h"

namespace augur {

Daemon::Daemon(const AugurfsOptions& options, std::optional<Background> background, std::unique_ptr<HolderLink> link)
    : options_(options),
      background_(std::move(background)),
      log_(options, background_.has_value()),
      link_(std::move(link)) {}

Status Daemon::Run() {
  AUGUR_TRY(options_.run_as.empty() ? log_.Start() : log_.StartWarning());
  AUGUR_TRY_ASSIGN(mount, DaemonMount::Prepare(options_, /*made=*/link_ != nullptr));
  mount_ = std::move(mount);
  if (mount_->layer_point() != nullptr && !link_) AUGUR_TRY(ForkLayer());
  if (options_.restart && !link_) AUGUR_TRY(StartHolder());
  Status status = RunHeld();
  if (layer_) layer_->GiveUp();  // nothing to do where it lies over the mount, or did
  // No program reads the streams of a daemon that goes on with a mount; before its turn, the one before it does.
  const bool is_first = !link_ || link_->task() == HolderLink::Task::kFirst || (is_next() && !has_turn_);
  if (!status.ok() && !is_first && !IsToldByMain()) spdlog::error("{}", status.text());
  if (link_) link_->Exiting(status.ok() ? kExitDone : kExitError);
  return status;
}

Status Daemon::ForkLayer() {
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

Status Daemon::StartHolder() {
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
  options.program.path = std::filesystem::read_symlink("/proc/self/exe", error);
  options.program.takes_others = !mount_->run_as();
  Values values = options_.values;
  values.SetTexts("MOUNTPOINT", {mount_->shown_path()});
  if (layer_) values.SetTexts("-o writable", {mount_->writable().path()});
  options.program.command_line = [values = std::move(values)](const std::string& changes) {
    return UpgradeCommandLine(values, changes);
  };
  AUGUR_TRY_ASSIGN(link, Holder::Hold(std::move(options)));
  link_ = std::make_unique<HolderLink>(std::move(link));
  return Status::Ok();
}

// In the daemon: the first one, or one that goes on with the mount.
Status Daemon::RunHeld() {
  AUGUR_TRY_ASSIGN(signals, TakeSignals());
  if (link_) TellOfCrashes(*link_);
  if (link_) state_ = &link_->state();
  const bool is_made = link_ != nullptr && link_->task() != HolderLink::Task::kFirst;
  std::optional<std::string> made;
  if (is_made) made = link_->state().device_number.data();
  AUGUR_TRY(mount_->GiveUpRights(made, link_ != nullptr));
  if (is_made && background_ && !is_next()) AUGUR_TRY(log_.EnterAt(*mount_));
  if (link_ && link_->task() == HolderLink::Task::kGiveUp) return TellOfTheEnd();
  end_.emplace(*mount_, link_.get(), IsToldByMain());
  AUGUR_TRY(Prepare());
  AUGUR_TRY(mount_->Mount(link_ ? link_->TakeDevice() : mount_->TakeHandedDown()));
  if (link_ && !is_made) {
    link_->Mounted(mount_->device().get(), mount_->device_number(), stack_->IndexLock().get());
  }
  Status status = Serve(signals);
  if (hands_over_) return end_->HandOver(signals, *stack_, *control_);
  if (!status.ok() && IsFollowed()) end_->LeaveToNext(status, *stack_, *control_);
  end_->Finish(status, *stack_, *control_);
  return status;
}

// The mount has ended with the daemons.
Status Daemon::TellOfTheEnd() const {
  const DaemonDeath& death = link_->state().last_death;
  return {Code::kStopped, Printable(mount_->path()) +
                              ": three daemons have died within ten seconds, so no other one is "
                              "started, and readers get errors: unmount, and mount again; the last one (process " +
                              std::to_string(death.pid) + ") " + DescribeDeath(death)};
}

// Everything but the mount itself, so that what can fail fails before anybody sees a mount.
Status Daemon::Prepare() {
  if (mount_->run_as() && !(has_died() && background_)) AUGUR_TRY(log_.Start());
  if (has_died()) {
    const DaemonDeath& death = link_->state().last_death;
    spdlog::error("{}: the daemon of this mount (process {}) {}; going on in its place", Printable(mount_->path()),
                  death.pid, DescribeDeath(death));
  }
  AUGUR_TRY_ASSIGN(transport, MountTransport::Choose(options_.wire.transport, link_.get()));
  transport_ = std::move(transport);
  std::function<Status()> await_turn;
  if (is_next()) await_turn = [this] { return AwaitTurn(); };
  MountTakeover takeover = {.held = link_ ? &link_->state() : nullptr, .await_turn = await_turn};
  if (has_died()) takeover.start = MountedGenerations::Start::kGoesOn;
  if (is_next()) takeover.start = MountedGenerations::Start::kNext;
  if (link_) takeover.device = link_->device();
  {
    std::unique_ptr<EndOnSignal> watch;  // none of a mount that is served: its daemon is told
    if (!is_next()) AUGUR_TRY(WatchForEnd(link_ ? link_->device() : -1, watch));
    AUGUR_TRY_ASSIGN(stack, MountStack::Make(options_, *mount_, takeover, *transport_));
    stack_ = std::move(stack);
  }
  AUGUR_TRY(end_->StartWatchdog());
  if (background_ && !goes_on()) log_.FindPlace(*mount_);
  control_ = std::make_unique<ControlEndpoint>(
      ControlledMount{
          .options = options_, .mount = *mount_, .transport = *transport_, .stack = *stack_, .state = state_},
      log_.Describe());
  return Status::Ok();
}

Status Daemon::WatchForEnd(int device, std::unique_ptr<EndOnSignal>& watch) {
  AUGUR_TRY_ASSIGN(started, EndOnSignal::Start(goes_on() ? device : -1, [this](int signal) {
                     if (goes_on()) end_->EndUnserved(signal);
                     PrintError(kAugurfs, "stopped by SIG" + std::string(sigabbrev_np(signal)) +
                                              ": there is no mount yet, and nothing is left");
                     _exit(kExitError);
                   }));
  watch = std::move(started);
  return Status::Ok();
}

// From here on the daemon before this one takes no request.
Status Daemon::AwaitTurn() {
  AUGUR_TRY(link_->AwaitTurn());
  has_turn_ = true;
  if (background_) AUGUR_TRY(log_.EnterAt(*mount_));
  const DaemonStop& before = link_->state().upgrade.stop;
  spdlog::info("{}: process {} of version {} hands the mount over to process {} of version " AUGUR_VERSION,
               Printable(mount_->path()), before.process, before.version.data(), getpid());
  return Status::Ok();
}

Status Daemon::BeginToServe() {
  std::function<void()> on_taking;
  if (goes_on()) {
    on_taking = [this] {
      link_->Takes();
      if (is_next()) NoteTaking(link_->state().upgrade);
    };
  }
  std::unique_ptr<EndOnSignal> watch;  // over io_uring it waits for the end of the daemon before, and of its core
  if (goes_on()) AUGUR_TRY(WatchForEnd(mount_->device().get(), watch));
  return stack_->Serve(mount_->TakeDevice(), transport_->TakeRings(), std::move(on_taking));
}

// Until the mount ends, or is to be handed over.
Status Daemon::Serve(const UniqueFd& signals) {
  AUGUR_TRY(BeginToServe());
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
      AUGUR_TRY(OnServing());
    }
    if (session.state() == SessionState::kEnded) {
      end_->MountEnded();
      if (!serving) return {Code::kIo, mount_->path() + ": the mount ended before it answered"};
      spdlog::info("{}: unmounted", Printable(mount_->path()));
      return Status::Ok();
    }
    const auto [signal, asks_statistics] = HearSignals(signals);
    if (asks_statistics) stack_->LogStatistics();
    if (signal != 0) {
      // A caller that waits for the mount to answer must not take this for it.
      const bool awaited = background_.has_value() && !serving && !goes_on();
      AUGUR_TRY(end_->EndMountOn(signal, *stack_));
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
      if (!heard.ok() && (options_.foreground || !serving)) {
        return end_->EndMount("ending: " + heard.status().text(), *stack_);
      }
      if (!heard.ok()) LoseHolder();
      if (heard.ok() && upgrade != nullptr) upgrade->Hear(*heard);
      hands_over_ = heard.ok() && heard->verb == HolderVerb::kHandOver;
      if (hands_over_) return Status::Ok();
    }
  }
}

// The mount answers.
Status Daemon::OnServing() {
  AUGUR_TRY(transport_->Serving(stack_->session().over_uring()));
  AUGUR_TRY(stack_->StartAhead(mount_->TakeClone()));
  AUGUR_TRY(goes_on() ? GoOn() : Announce());
  // Not before: it takes the whole line, and what the mount needs would wait for it.
  stack_->store()->files().FetchIndex();
  return Status::Ok();
}

// Says in the log what is mounted and how, and lets the caller go. Its streams are closed before: who reads a pipe of
// the caller must see its end when the caller returns.
Status Daemon::Announce() {
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

// The same by one that goes on with the mount, whose caller is gone.
Status Daemon::GoOn() {
  if (is_next()) log_.SaySettings(*stack_, *transport_);
  if (stack_->generations().is_reload()) {
    const StoreSummary& summary = stack_->store()->summary();
    spdlog::info("{}: from now on generation {} is shown: {} files, {}", Printable(mount_->path()), summary.generation,
                 summary.file_count, FormatSize(summary.tree_bytes));
  }
  DaemonLog::SayNotes(*stack_, control_->problem());
  // Before the line: when that is there, a SIGKILL counts as one of a daemon that served.
  AUGUR_TRY(link_->Ready(stack_->IndexLock().get()));
  is_ready_ = true;
  spdlog::info("{}: the mount is served again, by process {}", Printable(mount_->path()), getpid());
  return Status::Ok();
}

// Whether this daemon's failure is only its own: it goes on with the mount, has not yet said that it serves, and the
// holder starts another one.
bool Daemon::IsFollowed() const { return goes_on() && !is_ready_ && !end_->ends_mount() && link_->Hear().ok(); }

// The mount goes on, with one daemon.
void Daemon::LoseHolder() {
  spdlog::warn("{}: the process augur-holder is gone: when this daemon dies, no other one goes on with the mount",
               Printable(mount_->path()));
  end_->LoseHolder();
  link_.reset();
  // What was asked is not answered any more.
  if (DaemonUpgrade* const upgrade = control_->upgrade()) upgrade->PassOn(nullptr, options_.restart);
  mount_->AbortInTheEnd();
}

}  // namespace augur
