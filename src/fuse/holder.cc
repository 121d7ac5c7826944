// SPDX-License-Identifier: Apache-2.0
#include "fuse/holder.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <span>
#include <utility>
#include <vector>

#include "base/capabilities.h"
#include "fuse/mount_device.h"
#include "fuse/passed_fds.h"

namespace augur {
namespace {

using std::chrono::milliseconds;

constexpr const char* kName = "augur-holder";

// How long the end of a dying daemon is waited for. Most are gone in a few milliseconds, and their successor then finds
// no lock of theirs. Readers wait for a second at most.
constexpr milliseconds kPatience(200);
// A process that cannot be had now may be had soon.
constexpr milliseconds kForkAgain(100);
// The first pause of DyingDaemons.
constexpr milliseconds kResendPause(100);
// For the line in the log that says why the mount has ended.
constexpr unsigned kGiveUpSeconds = 10;

// FUSE_NOTIFY_RESEND of Linux 6.9, which <linux/fuse.h> of Debian 12 does not have.
constexpr int kNotifyResend = 7;

constexpr int kExitError = 2;

// What it keeps of root's capabilities: what a daemon and its broker and helper take (daemon_privileges.cc,
// broker_process.cc), what cutting theirs takes, and signals to a daemon that has become another user.
constexpr auto kKept = std::to_array<int>(
    {CAP_SYS_ADMIN, CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_KILL});

}  // namespace

Result<HolderLink> Holder::Hold(HolderOptions options) {
  AUGUR_TRY_ASSIGN(state, LastingState::Make());
  AUGUR_TRY_ASSIGN(signals, PendingSignals::Block());
  for (const int ignored : {SIGPIPE, SIGUSR2}) (void)signal(ignored, SIG_IGN);
  // What a dead daemon leaves, its broker and its helper, is collected with it: not each container has an init for
  // that.
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  Holder holder(std::move(options), std::move(state), std::move(signals));
  // A process that cannot be had now is a failure of the start.
  if (!holder.Fork(HolderLink::Task::kFirst, holder.daemon_)) return ErrnoStatus(errno, "fork");
  return holder.Run();
}

// Returns in both processes; in the daemon link_ is valid.
bool Holder::Fork(HolderLink::Task task, HeldDaemon& daemon) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return false;
  task_ = task;
  if (pid == 0) {
    link_ = std::move(theirs);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    if (task == HolderLink::Task::kGoOn || task == HolderLink::Task::kNext) title_.Restore();
    if (task == HolderLink::Task::kGiveUp) alarm(kGiveUpSeconds);
    (void)signal(SIGCHLD, SIG_DFL);
    if (task == HolderLink::Task::kNext) {
      const std::string text = BecomeProgram(next_.program, task).text() + "\n";
      (void)!write(STDERR_FILENO, text.data(), text.size());
      _exit(kExitError);
    }
    // A program that has gone meanwhile is no reason to end: this one goes on.
    if (task == HolderLink::Task::kGoOn && program_.file.valid()) (void)BecomeProgram(program_, task);
    return true;
  }
  daemon = HeldDaemon::Of(pid, std::move(ours));
  if (!daemon.is_there()) return false;
  if (task == HolderLink::Task::kNext) return true;
  daemon_pid_ = pid;
  start_next_at_.reset();
  // It has them blocked, and finds this one when it looks.
  signals_.PassTo(daemon_);
  return true;
}

HolderLink Holder::Run() {
  if (!link_.valid()) {
    options_.on_forked();
    if (options_.leaves) LeaveCaller();
    std::string title = std::string(kName) + " " + options_.path;
    title_.Set(kName, title);
  }
  while (!link_.valid()) {
    Wait();
    Listen();
    if (signals_.Take() && daemon_.is_there() && !start_next_at_) signals_.PassTo(daemon_);
    LookForDead();
    const Clock::time_point now = Clock::now();
    LookAfterUpgrade(now);
    if (dying_.ResendIsDue(now)) Resend();
    if (start_next_at_ && now >= *start_next_at_ && !StartNext()) start_next_at_ = now + kForkAgain;
  }
  return {task_, {.state = &state_, .fd = std::move(state_fd_)}, std::move(link_), std::move(options_.device)};
}

// Once the daemon is there, which has them still: until the mount answers, messages go to the caller's streams, and
// Ctrl-C reaches the daemon.
void Holder::LeaveCaller() {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  setsid();
  if (chdir("/") != 0) return;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null.get(), stream);
}

void Holder::Wait() {
  constexpr size_t kOthers = 6;
  std::array<pollfd, kOthers + DyingDaemons::kMax> ready;
  ready.fill({.fd = -1, .events = POLLIN, .revents = 0});
  ready[0].fd = daemon_.watch.get();
  ready[1].fd = signals_.fd();
  ready[2].fd = daemon_.socket.get();
  ready[3].fd = daemon_.process.get();
  if (next_.daemon.is_there()) ready[4].fd = next_.daemon.socket.get();
  if (next_.daemon.is_there()) ready[5].fd = next_.daemon.process.get();
  for (size_t i = 0; i < DyingDaemons::kMax; ++i) ready[kOthers + i].fd = dying_.processes()[i].get();
  Clock::time_point due = Clock::time_point::max();
  if (next_.daemon.is_there() && !next_.prepared) due = next_.due;
  if (program_before_) due = std::min(due, trial_due_);
  if (start_next_at_) due = std::min(due, *start_next_at_);
  if (const auto resend = dying_.due()) due = std::min(due, *resend);
  int timeout = -1;
  if (due != Clock::time_point::max()) {
    timeout = static_cast<int>(std::max<int64_t>(0, std::chrono::ceil<milliseconds>(due - Clock::now()).count()));
  }
  if (poll(ready.data(), ready.size(), timeout) <= 0) return;
  if (ready[0].revents == 0) return;
  // It may have said of what it dies, or that it hands over and ends.
  Listen();
  if (!HasEnded(daemon_.watch)) return;
  daemon_.watch.Reset();
  DaemonDies(SIGKILL);
}

void Holder::Listen() {
  while (next_.daemon.is_there() && Hear(next_.daemon)) {
  }
  while (Hear(daemon_)) {
  }
}

// One message, if there is one.
bool Holder::Hear(HeldDaemon& daemon) {
  if (!daemon.socket.valid()) return false;
  struct {
    HolderMessage message;
    ProgramRequest request;
  } packet;
  // Takes memory only where there are some: in the first daemon's message, and at an upgrade.
  std::vector<UniqueFd> fds;
  const ssize_t bytes =
      ReceiveWithFds(daemon.socket.get(), std::as_writable_bytes(std::span(&packet, 1)), fds, MSG_DONTWAIT);
  if (bytes < 0 && errno == EAGAIN) return false;
  const bool is_upgrade = bytes == sizeof packet && packet.message.verb == HolderVerb::kUpgrade;
  if (is_upgrade && &daemon == &daemon_) {
    BeginUpgrade(packet.request, fds);
    return true;
  }
  if (bytes == sizeof packet.message) {
    if (daemon.Note(packet.message)) return true;
    if (&daemon == &daemon_) {
      Obey(packet.message, fds);
    } else {
      ObeyNext(packet.message, fds);
    }
    return true;
  }
  daemon.socket.Reset();  // its other end is closed: the process is about to be collected
  return false;
}

void Holder::Obey(const HolderMessage& message, std::span<UniqueFd> fds) {
  switch (message.verb) {
    case HolderVerb::kMounted: Mounted(message, fds); return;
    case HolderVerb::kReady:
      if (!fds.empty()) index_ = std::move(fds[0]);
      Ready(message.value != 0);
      return;
    case HolderVerb::kDying: DaemonDies(message.value); return;
    case HolderVerb::kHandedOver: HandedOver(); return;
    case HolderVerb::kEnding:
      if (gives_up_) return;  // it dies, and takes the end of its connection for an umount(2)
      ending_ = true;
      options_.device.Reset();
      index_.Reset();
      return;
    case HolderVerb::kWatch:
    case HolderVerb::kExit:
    case HolderVerb::kUpgrade:
    case HolderVerb::kProgram:
    case HolderVerb::kPrepared:
    case HolderVerb::kHandOver:
    case HolderVerb::kNotStarted:
    case HolderVerb::kTurn:
    case HolderVerb::kTakes:
    case HolderVerb::kNothing: return;  // not what a daemon that serves says
  }
}

void Holder::Mounted(const HolderMessage& message, std::span<UniqueFd> fds) {
  if (was_ready_) return;
  if (!fds.empty() && !options_.device.valid()) options_.device = std::move(fds[0]);
  if (fds.size() > 1) index_ = std::move(fds[1]);
  state_.device_number = message.device_number;
  state_.device_number.back() = '\0';
  const std::optional<MountDevice> device = ParseMountDevice(state_.device_number.data());
  if (device) abort_.emplace(options_.path, *device);
}

void Holder::Ready(bool can_go_on) {
  daemon_.serves = daemon_.takes = true;
  program_before_.reset();
  if (was_ready_) return;
  was_ready_ = true;
  can_go_on_ = can_go_on;
  if (options_.caller.valid()) {
    const char byte = 1;
    // SIGPIPE is ignored. A caller who has gone does not want the mount any more.
    if (write(options_.caller.get(), &byte, 1) != 1) daemon_.Signal(SIGTERM);
    options_.caller.Reset();
  }
  // The dead are not kept for us to ask how they ended, as collecting one may take long. Where no other daemon can be
  // started, we have the time.
  if (can_go_on_) (void)signal(SIGCHLD, SIG_IGN);
  // The mount is made. An ordinary user has none to give up, and fusermount3, which unmounts, is set-user-id.
  if (geteuid() != 0) return;
  (void)KeepCapabilities(kKept);
  (void)RefuseNewPrivileges();
}

// What has ended is not collected here: the kernel may take long to let a process go (it makes /proc forget it), and
// readers must not wait for that. From Ready on the dead collect themselves.
void Holder::LookForDead() {
  const pid_t ended = daemon_.HasEnded() ? daemon_.pid : -1;
  if (ended != -1) Listen();  // what it said last; perhaps another one serves now
  if (ended == -1 || daemon_.pid != ended) return;
  const DaemonDeath unknown = {.signal = start_next_at_ ? state_.last_death.signal : SIGKILL,
                               .is_dying = start_next_at_.has_value()};
  DaemonEnded(daemon_.HowItEnded().value_or(unknown));
}

void Holder::DaemonEnded(DaemonDeath death) {
  // It has told of what it dies, and then a thread of it was faster.
  if (start_next_at_ && death.signal == 0) death = {.signal = state_.last_death.signal};
  const bool by_itself = death.signal == 0;
  const bool is_last = ending_ || task_ == HolderLink::Task::kGiveUp || !was_ready_ || !can_go_on_;
  // The next one is there to serve, or the one before it was: its program can.
  const bool is_upgrade = (next_.daemon.is_there() && next_.prepared) || program_before_;
  // One that cannot serve any more is not helped by another one. One that could not begin to may be.
  if (is_last || (by_itself && !is_upgrade && (daemon_.serves || death.status == 0))) End(death);
  const bool counts = Counts(death);
  daemon_ = HeldDaemon();
  // Those that had died before Ready do not collect themselves: this daemon, perhaps, and its broker.
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  if (start_next_at_) {  // it was told before
    death.pid = state_.last_death.pid;
    death.time = state_.last_death.time;
    state_.last_death = death;
  } else {
    Remember(death, counts);
  }
  start_next_at_ = Clock::now();
}

void Holder::DaemonDies(int signal) {
  if (!daemon_.is_there() || start_next_at_ || gives_up_ || !was_ready_) return;
  // No other one is started, and the end of this one may wait for a disk, or for a READ that it has not answered.
  if (ending_ || !can_go_on_) return EndConnection();
  // Else the next one starts when this one is gone.
  if (dying_.IsFull()) return;
  start_next_at_ = Clock::now() + kPatience;
  const DaemonDeath death = {.signal = signal, .is_dying = true};
  Remember(death, Counts(death));
}

// A SIGKILL of a daemon that took requests comes from outside. One of another program that has never served leaves the
// mount to that before it, and says nothing of that.
bool Holder::Counts(const DaemonDeath& death) const {
  const bool from_outside = death.signal == SIGKILL && daemon_.takes;
  return !from_outside && !program_before_;
}

void Holder::Remember(DaemonDeath death, bool counts) {
  death.time = time(nullptr);
  death.pid = daemon_pid_;
  state_.last_death = death;
  if (!counts || !deaths_.Add(Clock::now())) return;
  gives_up_ = true;
  index_.Reset();
  EndConnection();
}

// The daemon that runs is another one from now on; this one may not be gone.
void Holder::LetGo(milliseconds resend_pause) {
  dying_.Add(std::move(daemon_.process), Clock::now(), resend_pause);
  daemon_ = HeldDaemon();
}

bool Holder::StartNext() {
  if (daemon_.is_there()) LetGo(kResendPause);
  if (program_before_) program_ = std::move(*program_before_);
  program_before_.reset();
  Resend();
  if (next_.daemon.is_there() && next_.prepared && !gives_up_) {
    MakeNextServe();
    return true;
  }
  if (next_.daemon.is_there()) GiveUpUpgrade(kEndUnknown);
  return Fork(gives_up_ ? HolderLink::Task::kGiveUp : HolderLink::Task::kGoOn, daemon_);
}

void Holder::Resend() {
  if (!options_.device.valid()) return;
  const fuse_out_header message = {.len = sizeof message, .error = kNotifyResend, .unique = 0};
  (void)!write(options_.device.get(), &message, sizeof message);
}

void Holder::EndConnection() {
  options_.device.Reset();
  if (abort_) abort_->Abort();
}

void Holder::End(const DaemonDeath& death) {
  if (next_.daemon.is_there()) next_.daemon.Signal(SIGKILL);
  EndConnection();
  if (gives_up_) _exit(kExitError);
  if (death.signal == 0) _exit(death.status);
  // As the daemon, for who waits for us; one core is enough.
  const rlimit none{};
  (void)setrlimit(RLIMIT_CORE, &none);
  sigset_t nothing;
  sigemptyset(&nothing);
  pthread_sigmask(SIG_SETMASK, &nothing, nullptr);
  (void)signal(death.signal, SIG_DFL);
  raise(death.signal);
  _exit(kExitError);  // the first process of a container is not killed by itself
}

}  // namespace augur
