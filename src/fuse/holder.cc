// SPDX-License-Identifier: Apache-2.0
#include "fuse/holder.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

// Three deaths in this time are too many: the fourth daemon would die of the same.
constexpr std::chrono::seconds kDeathsWithin(10);

// How long the end of a dying daemon is waited for. Most are gone in a few milliseconds, and their successor then finds
// no lock of theirs. Readers wait for a second at most.
constexpr milliseconds kPatience(200);
// A process that cannot be had now may be had soon.
constexpr milliseconds kForkAgain(100);
// A thread of a dying daemon may take a request after the first resend, and die with it. Resending what the successor
// has under way costs a read again, so the pause grows.
constexpr milliseconds kResendPauseMin(100);
constexpr milliseconds kResendPauseMax(5000);
// For the line in the log that says why the mount has ended.
constexpr unsigned kGiveUpSeconds = 10;

// FUSE_NOTIFY_RESEND of Linux 6.9, which <linux/fuse.h> of Debian 12 does not have.
constexpr int kNotifyResend = 7;
// PIDFD_THREAD of Linux 6.9: of a thread, and not of its process.
constexpr unsigned kPidfdThread = O_EXCL;

constexpr int kExitError = 2;

constexpr auto kPassedOn = std::to_array<int>({SIGTERM, SIGINT, SIGHUP, SIGUSR1});

// What it keeps of root's capabilities: what a daemon and its broker and helper take (daemon_privileges.cc,
// broker_process.cc), and what cutting theirs takes.
constexpr auto kKept =
    std::to_array<int>({CAP_SYS_ADMIN, CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_SETGID, CAP_SETUID, CAP_SETPCAP});

// Of <linux/pidfd.h> of Linux 6.15: how a process has ended that is gone.
struct PidfdInfo {
  uint64_t mask;
  uint64_t cgroup;
  std::array<uint32_t, 11> ids;
  int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr uint64_t kPidfdInfoExit = 1 << 3;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);

// Of a pidfd: whether the process has ended.
bool IsReadable(int fd) {
  pollfd one = {.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&one, 1, 0) > 0;
}

Result<UniqueFd> BlockSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int one : kPassedOn) sigaddset(&set, one);
  if (const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
    return ErrnoStatus(error, "blocking signals");
  }
  UniqueFd signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return ErrnoStatus(errno, "signalfd");
  return signals;
}

}  // namespace

Result<HolderLink> Holder::Hold(HolderOptions options) {
  AUGUR_TRY_ASSIGN(state, LastingState::Make());
  AUGUR_TRY_ASSIGN(signals, BlockSignals());
  for (const int ignored : {SIGPIPE, SIGUSR2}) (void)signal(ignored, SIG_IGN);
  // What a dead daemon leaves, its broker and its helper, is collected with it: not each container has an init for
  // that.
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  Holder holder(std::move(options), *state, std::move(signals));
  // A process that cannot be had now is a failure of the start.
  if (!holder.Fork(HolderLink::Task::kFirst)) return ErrnoStatus(errno, "fork");
  return holder.Run();
}

// Returns in both processes; in the daemon link_ is valid.
bool Holder::Fork(HolderLink::Task task) {
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
    if (task == HolderLink::Task::kGoOn) title_.Restore();
    if (task == HolderLink::Task::kGiveUp) alarm(kGiveUpSeconds);
    (void)signal(SIGCHLD, SIG_DFL);
    return true;
  }
  daemon_ = daemon_pid_ = pid;
  process_.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  exit_status_.reset();
  socket_ = std::move(ours);
  watch_.Reset();
  serves_ = false;
  start_next_at_.reset();
  // It has them blocked, and finds this one when it looks.
  if (pending_signal_ != 0) kill(daemon_, std::exchange(pending_signal_, 0));
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
    PassSignalsOn();
    LookForDead();
    const Clock::time_point now = Clock::now();
    if (resend_at_ && now >= *resend_at_) {
      Resend();
      resend_pause_ = std::min(2 * resend_pause_, kResendPauseMax);
      resend_at_ = now + resend_pause_;
    }
    if (start_next_at_ && now >= *start_next_at_ && !StartNext()) start_next_at_ = now + kForkAgain;
  }
  return {task_, state_, std::move(link_), std::move(options_.device)};
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
  std::array<pollfd, kDyingMax + 4> ready;
  ready.fill({.fd = -1, .events = POLLIN, .revents = 0});
  ready[0].fd = watch_.get();
  ready[1].fd = signals_.get();
  ready[2].fd = socket_.get();
  ready[3].fd = process_.get();
  for (size_t i = 0; i < kDyingMax; ++i) ready[4 + i].fd = dying_[i].get();
  Clock::time_point due = Clock::time_point::max();
  if (start_next_at_) due = std::min(due, *start_next_at_);
  if (resend_at_) due = std::min(due, *resend_at_);
  int timeout = -1;
  if (due != Clock::time_point::max()) {
    timeout = static_cast<int>(std::max<int64_t>(0, std::chrono::ceil<milliseconds>(due - Clock::now()).count()));
  }
  if (poll(ready.data(), ready.size(), timeout) <= 0) return;
  if (ready[0].revents != 0) {
    watch_.Reset();
    DaemonDies(SIGKILL);
  }
}

void Holder::PassSignalsOn() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (daemon_ > 0 && !start_next_at_) {
      kill(daemon_, static_cast<int>(info.ssi_signo));
    } else {
      pending_signal_ = static_cast<int>(info.ssi_signo);
    }
  }
}

void Holder::Listen() {
  while (Hear()) {
  }
}

// One message, if there is one.
bool Holder::Hear() {
  if (!socket_.valid()) return false;
  HolderMessage message;
  std::vector<UniqueFd> fds;  // takes memory only where there are some: in the first daemon's message
  const ssize_t bytes =
      ReceiveWithFds(socket_.get(), std::as_writable_bytes(std::span(&message, 1)), fds, MSG_DONTWAIT);
  if (bytes < 0 && errno == EINTR) return true;
  if (bytes < 0 && errno == EAGAIN) return false;
  if (bytes == sizeof message) {
    Obey(message, fds);
    return true;
  }
  socket_.Reset();  // its other end is closed: the process is about to be collected
  return false;
}

void Holder::Obey(const HolderMessage& message, std::span<UniqueFd> fds) {
  switch (message.verb) {
    case HolderVerb::kMounted: Mounted(message, fds); return;
    case HolderVerb::kWatch:
      watch_.Reset(static_cast<int>(syscall(SYS_pidfd_open, message.value, kPidfdThread)));
      return;
    case HolderVerb::kReady: Ready(message.value != 0); return;
    case HolderVerb::kDying: DaemonDies(message.value); return;
    case HolderVerb::kExit: exit_status_ = message.value; return;
    case HolderVerb::kEnding:
      ending_ = true;
      options_.device.Reset();
      index_.Reset();
      return;
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
  serves_ = true;
  if (was_ready_) return;
  was_ready_ = true;
  can_go_on_ = can_go_on;
  if (options_.caller.valid()) {
    const char byte = 1;
    // SIGPIPE is ignored. A caller who has gone does not want the mount any more.
    if (write(options_.caller.get(), &byte, 1) != 1) kill(daemon_, SIGTERM);
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
  if (daemon_ > 0 && IsReadable(process_.get())) {
    Listen();  // what it said last
    DaemonEnded(HowItEnded());
  }
  if (!resend_at_) return;
  bool all_gone = true;
  for (UniqueFd& process : dying_) {
    if (process.valid() && IsReadable(process.get())) process.Reset();
    all_gone = all_gone && !process.valid();
  }
  if (!all_gone) return;
  resend_at_.reset();
  Resend();
}

// Before Ready, and where no other daemon is started, it is a child that waits to be collected. Later the kernel tells
// by the pidfd (Linux 6.15), once it is gone.
DaemonDeath Holder::HowItEnded() const {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(daemon_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == daemon_) {
    if (info.si_code == CLD_EXITED) return {.status = info.si_status};
    return {.signal = info.si_status, .dumped = info.si_code == CLD_DUMPED};
  }
  constexpr int kTries = 10;
  constexpr useconds_t kAgainUs = 1000;
  PidfdInfo ended{};
  for (int i = 0; i < kTries; ++i) {
    ended.mask = kPidfdInfoExit;
    if (ioctl(process_.get(), kPidfdGetInfo, &ended) != 0) break;
    if ((ended.mask & kPidfdInfoExit) != 0) {
      if (WIFEXITED(ended.exit_code)) return {.status = WEXITSTATUS(ended.exit_code)};
      return {.signal = WTERMSIG(ended.exit_code), .dumped = WCOREDUMP(ended.exit_code) != 0};
    }
    usleep(kAgainUs);
  }
  if (exit_status_) return {.status = *exit_status_};
  return {.signal = start_next_at_ ? state_.last_death.signal : SIGKILL, .is_dying = start_next_at_.has_value()};
}

void Holder::DaemonEnded(DaemonDeath death) {
  const bool by_itself = death.signal == 0;
  const bool is_last = ending_ || task_ == HolderLink::Task::kGiveUp || !was_ready_ || !can_go_on_;
  // One that cannot serve any more is not helped by another one. One that could not begin to may be.
  if (is_last || (by_itself && (serves_ || death.status == 0))) End(death);
  daemon_ = -1;
  process_.Reset();
  socket_.Reset();
  watch_.Reset();
  if (start_next_at_) {  // it was told before
    death.pid = state_.last_death.pid;
    death.time = state_.last_death.time;
    state_.last_death = death;
  } else {
    Remember(death);
  }
  start_next_at_ = Clock::now();
}

void Holder::DaemonDies(int signal) {
  if (daemon_ < 0 || start_next_at_ || ending_ || gives_up_ || !was_ready_ || !can_go_on_) return;
  // Else the next one starts when this one is gone.
  if (std::ranges::all_of(dying_, [](const UniqueFd& one) { return one.valid(); })) return;
  start_next_at_ = Clock::now() + kPatience;
  Remember({.signal = signal, .is_dying = true});
}

void Holder::Remember(DaemonDeath death) {
  death.time = time(nullptr);
  death.pid = daemon_pid_;
  state_.last_death = death;
  const bool from_outside = death.signal == SIGKILL && serves_;
  if (from_outside) return;
  const Clock::time_point now = Clock::now();
  deaths_[death_count_++ % kDeathsMax] = now;
  // The oldest one is where the next will be.
  if (death_count_ < kDeathsMax || now - deaths_[death_count_ % kDeathsMax] > kDeathsWithin) return;
  gives_up_ = true;
  options_.device.Reset();
  index_.Reset();
  if (abort_) abort_->Abort();
}

bool Holder::StartNext() {
  if (daemon_ > 0) {
    *std::ranges::find_if(dying_, [](const UniqueFd& one) { return !one.valid(); }) = std::move(process_);
    resend_pause_ = kResendPauseMin;
    resend_at_ = Clock::now() + resend_pause_;
  }
  daemon_ = -1;
  Resend();
  return Fork(gives_up_ ? HolderLink::Task::kGiveUp : HolderLink::Task::kGoOn);
}

void Holder::Resend() {
  if (!options_.device.valid()) return;
  const fuse_out_header message = {.len = sizeof message, .error = kNotifyResend, .unique = 0};
  (void)!write(options_.device.get(), &message, sizeof message);
}

void Holder::End(const DaemonDeath& death) {
  options_.device.Reset();
  if (abort_) abort_->Abort();
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
