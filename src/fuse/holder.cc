// SPDX-License-Identifier: Apache-2.0
#include "fuse/holder.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <utility>
#include <vector>

#include "base/capabilities.h"
#include "fuse/passed_fds.h"

namespace augur {
namespace {

using std::chrono::milliseconds;

// How long the end of a dying daemon is waited for. Most are gone in a few milliseconds, and their successor then finds
// no lock of theirs. Readers wait for a second at most.
constexpr milliseconds kPatience(200);
// A process that cannot be had now may be had soon.
constexpr milliseconds kForkAgain(100);
// The first pause of DyingDaemons.
constexpr milliseconds kResendPause(100);
// A daemon that hands the mount over answers what it has taken, and ends. What it leaves is resent when it is gone.
constexpr milliseconds kLeavesWithin = DyingDaemons::kPauseMax;
constexpr int kExitError = 2;

// What it keeps of root's capabilities: what a daemon and its broker and helper take (daemon_privileges.cc,
// broker_process.cc), what cutting theirs takes, and signals to a daemon that has become another user.
constexpr auto kKept = std::to_array<int>(
    {CAP_SYS_ADMIN, CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_KILL});

// Once the daemon is there, which has them still: until the mount answers, messages go to the caller's streams, and
// Ctrl-C reaches the daemon.
void LeaveCaller() {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  setsid();
  if (chdir("/") != 0) return;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null.get(), stream);
}

}  // namespace

Result<HolderLink> Holder::Hold(HolderOptions options) {
  AUGUR_TRY_ASSIGN(state, LastingState::Make());
  AUGUR_TRY_ASSIGN(signals, PendingSignals::Block());
  for (const int ignored : {SIGPIPE, SIGUSR2}) (void)signal(ignored, SIG_IGN);
  // What a dead daemon leaves, its broker and its helper, is collected with it: not each container has an init for
  // that.
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  Holder holder(options, std::move(state), std::move(signals));
  // A process that cannot be had now is a failure of the start.
  if (!holder.Fork(Task::kFirst)) return ErrnoStatus(errno, "fork");
  if (!holder.fork_.is_daemon()) {
    options.on_forked();
    if (options.leaves) LeaveCaller();
    holder.fork_.ShowHolder(holder.mount_.path());
  }
  return holder.Run();
}

HolderLink Holder::Run() {
  while (!fork_.is_daemon()) {
    Wait();
    Listen();
    if (signals_.Take() && daemon_.is_there() && !start_next_at_) signals_.PassTo(daemon_);
    LookForDead();
    const Clock::time_point now = Clock::now();
    if (const auto why = next_.Failure(now)) GiveUpUpgrade(*why);
    if (trial_.IsOverdue(now)) daemon_.Signal(SIGKILL);
    if (dying_.ResendIsDue(now)) mount_.Resend();
    if (start_next_at_ && now >= *start_next_at_ && !StartNext()) start_next_at_ = now + kForkAgain;
  }
  return fork_.TakeLink(mount_.TakeDevice());
}

void Holder::Wait() {
  constexpr size_t kOthers = 6;
  std::array<pollfd, kOthers + DyingDaemons::kMax> ready;
  ready.fill({.fd = -1, .events = POLLIN, .revents = 0});
  ready[0].fd = daemon_.watch.get();
  ready[1].fd = signals_.fd();
  ready[2].fd = daemon_.socket.get();
  ready[3].fd = daemon_.process.get();
  ready[4].fd = next_.daemon.socket.get();
  ready[5].fd = next_.daemon.process.get();
  for (size_t i = 0; i < DyingDaemons::kMax; ++i) ready[kOthers + i].fd = dying_.processes()[i].get();
  Clock::time_point due = Clock::time_point::max();
  for (const auto& one : {next_.due(), trial_.due(), start_next_at_, dying_.due()}) {
    if (one) due = std::min(due, *one);
  }
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
  while (Hear(next_.daemon)) {
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
    } else if (next_.Note(packet.message, fds)) {
      daemon_.Tell(HolderVerb::kHandOver, next_.daemon.pid);
    }
    return true;
  }
  daemon.socket.Reset();  // its other end is closed: the process is about to be collected
  return false;
}

void Holder::Obey(const HolderMessage& message, std::span<UniqueFd> fds) {
  switch (message.verb) {
    case HolderVerb::kMounted: mount_.Made(message, fds, fork_.state()); return;
    case HolderVerb::kReady:
      if (!fds.empty()) mount_.KeepIndex(std::move(fds[0]));
      Ready(message.value != 0);
      return;
    case HolderVerb::kDying: DaemonDies(message.value); return;
    case HolderVerb::kHandedOver: HandedOver(); return;
    case HolderVerb::kEnding: mount_.LeaveToDaemon(); return;
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

void Holder::Ready(bool can_go_on) {
  daemon_.serves = daemon_.takes = true;
  trial_.Pass();
  if (!mount_.Answer(can_go_on)) return;
  if (caller_.valid()) {
    const char byte = 1;
    // SIGPIPE is ignored. A caller who has gone does not want the mount any more.
    if (write(caller_.get(), &byte, 1) != 1) daemon_.Signal(SIGTERM);
    caller_.Reset();
  }
  // The dead are not kept for us to ask how they ended, as collecting one may take long. Where no other daemon can be
  // started, we have the time.
  if (can_go_on) (void)signal(SIGCHLD, SIG_IGN);
  // The mount is made. An ordinary user has none to give up, and fusermount3, which unmounts, is set-user-id.
  if (geteuid() != 0) return;
  (void)KeepCapabilities(kKept);
  (void)RefuseNewPrivileges();
}

void Holder::BeginUpgrade(const ProgramRequest& request, std::span<UniqueFd> fds) {
  const bool can =
      mount_.goes_on() && !mount_.is_given_up() && !next_.is_under_way() && !trial_.is_on() && !start_next_at_;
  if (!can || fds.empty()) return daemon_.Tell(HolderVerb::kNotStarted, kOtherUnderWay);
  next_ = UpgradeAttempt::Of(request, std::move(fds[0]), trial_.program(), fork_.own_path());
  next_.daemon = fork_.Fork(Task::kNext, next_.program, mount_.device(), next_.errors.get());
  if (!next_.is_under_way()) return GiveUpUpgrade(kEndUnknown);
  next_.errors.Reset();  // in the daemon that asked, its end shall be seen
}

// The daemon that serves goes on, unless it has begun to hand over: then HandedOver starts another one.
void Holder::GiveUpUpgrade(int32_t why) {
  next_.daemon.Signal(SIGKILL);
  next_ = UpgradeAttempt();
  daemon_.Tell(HolderVerb::kNotStarted, why);
}

void Holder::HandedOver() {
  if (mount_.is_ending() || mount_.is_given_up()) return;
  LetGo(kLeavesWithin);
  if (next_.is_prepared) {
    MakeNextServe();
  } else {
    start_next_at_ = Clock::now();
  }
}

void Holder::MakeNextServe() {
  trial_.Begin(std::move(next_.program), Clock::now());
  daemon_ = std::move(next_.daemon);
  daemon_pid_ = daemon_.pid;
  next_ = UpgradeAttempt();
  start_next_at_.reset();
  daemon_.Tell(HolderVerb::kTurn, 0);
  signals_.PassTo(daemon_);
}

// What has ended is not collected here: the kernel may take long to let a process go (it makes /proc forget it), and
// readers must not wait for that. From Ready on the dead collect themselves.
void Holder::LookForDead() {
  const pid_t ended = daemon_.HasEnded() ? daemon_.pid : -1;
  if (ended != -1) Listen();  // what it said last; perhaps another one serves now
  if (ended == -1 || daemon_.pid != ended) return;
  const DaemonDeath unknown = {.signal = start_next_at_ ? fork_.state().last_death.signal : SIGKILL,
                               .is_dying = start_next_at_.has_value()};
  DaemonEnded(daemon_.HowItEnded().value_or(unknown));
}

void Holder::DaemonEnded(DaemonDeath death) {
  DaemonDeath& last = fork_.state().last_death;
  // It has told of what it dies, and then a thread of it was faster.
  if (start_next_at_ && death.signal == 0) death = {.signal = last.signal};
  const bool by_itself = death.signal == 0;
  const bool is_last = !mount_.goes_on() || fork_.task() == Task::kGiveUp;
  // The next one is there to serve, or the one before it was: its program can.
  const bool is_upgrade = next_.is_prepared || trial_.is_on();
  // One that cannot serve any more is not helped by another one. One that could not begin to may be.
  if (is_last || (by_itself && !is_upgrade && (daemon_.serves || death.status == 0))) End(death);
  const bool counts = Counts(death);
  daemon_ = HeldDaemon();
  // Those that had died before Ready do not collect themselves: this daemon, perhaps, and its broker.
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  if (start_next_at_) {  // it was told before
    death.pid = last.pid;
    death.time = last.time;
    last = death;
  } else {
    Remember(death, counts);
  }
  start_next_at_ = Clock::now();
}

void Holder::DaemonDies(int signal) {
  if (!daemon_.is_there() || start_next_at_ || mount_.is_given_up() || !mount_.answers()) return;
  // No other one is started, and the end of this one may wait for a disk, or for a READ that it has not answered.
  if (!mount_.goes_on()) return mount_.EndConnection();
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
  return !from_outside && !trial_.is_on();
}

void Holder::Remember(DaemonDeath death, bool counts) {
  death.time = time(nullptr);
  death.pid = daemon_pid_;
  fork_.state().last_death = death;
  if (counts && deaths_.Add(Clock::now())) mount_.GiveUp();
}

// The daemon that runs is another one from now on; this one may not be gone.
void Holder::LetGo(milliseconds resend_pause) {
  dying_.Add(std::move(daemon_.process), Clock::now(), resend_pause);
  daemon_ = HeldDaemon();
}

bool Holder::StartNext() {
  if (daemon_.is_there()) LetGo(kResendPause);
  trial_.Fail();
  mount_.Resend();
  if (next_.is_prepared && !mount_.is_given_up()) {
    MakeNextServe();
    return true;
  }
  if (next_.is_under_way()) GiveUpUpgrade(kEndUnknown);
  return Fork(mount_.is_given_up() ? Task::kGiveUp : Task::kGoOn);
}

bool Holder::Fork(Task task) {
  daemon_ = fork_.Fork(task, trial_.program(), mount_.device());
  if (fork_.is_daemon()) return true;
  if (!daemon_.is_there()) return false;
  daemon_pid_ = daemon_.pid;
  start_next_at_.reset();
  // It has them blocked, and finds this one when it looks.
  signals_.PassTo(daemon_);
  return true;
}

void Holder::End(const DaemonDeath& death) {
  next_.daemon.Signal(SIGKILL);
  mount_.EndConnection();
  if (mount_.is_given_up()) _exit(kExitError);
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
