// SPDX-License-Identifier: Apache-2.0
#include "fuse/helper_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "fs/shown_paths.h"
#include "fuse/abort_connection.h"
#include "fuse/helper_message.h"
#include "fuse/mount_root.h"
#include "fuse/open_watch.h"
#include "fuse/process_title.h"

namespace augur {
namespace {

// Waits while the daemon is behind. That it has gone is found at the next look at the socket.
void Send(const UniqueFd& socket, const std::vector<std::byte>& packet) {
  while (send(socket.get(), packet.data(), packet.size(), MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void Say(const UniqueFd& socket, HelperVerb verb, std::string_view text) {
  text = text.substr(0, kHelperPacketBytesMax - sizeof(HelperHeader));
  Send(socket, HelperPacket(verb, text.size(), std::as_bytes(std::span(text))));
}

using Clock = std::chrono::steady_clock;

constexpr const char* kName = "augur-helper";

// Sent by the kernel when the daemon's main thread ends. Blocked in all threads; the guard takes it.
constexpr int kDaemonDied = SIGUSR1;

// After opens were told, the next are looked for so much later: what is told wakes four threads, 30 us of CPU that the
// readers could have had. A reader at 8 us a file has opened 625 in the least of it, and one at 2 ms five in the most;
// a window of records ahead is several times that.
constexpr std::chrono::milliseconds kBetweenLooksMin(5);
constexpr std::chrono::milliseconds kBetweenLooksMax(10);
constexpr size_t kOpensFew = 16;
constexpr size_t kOpensMany = 64;

// What the helper's two threads know of the mount.
class KnownMount {
 public:
  void Set(const std::string& path, const HelperMount& mount) {
    const MutexLock lock(mu_);
    path_ = path;
    mount_ = mount;
  }
  void Abort() {
    const MutexLock lock(mu_);
    if (!path_.empty()) AbortConnection(path_, mount_);
  }

 private:
  Mutex mu_;
  std::string path_ AUGUR_GUARDED_BY(mu_);
  HelperMount mount_ AUGUR_GUARDED_BY(mu_);
};

// Waits for the daemon's death, sees to it that the mount dies with it, and ends the process. A thread of its own,
// because the other may be waiting for an answer of the mount.
void Guard(KnownMount& mount, pid_t daemon) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, kDaemonDied);
  siginfo_t info{};
  // The signal says that it is from the dying process; what others send is not meant for us.
  while (sigwaitinfo(&set, &info) != kDaemonDied || info.si_pid != daemon) {
  }
  mount.Abort();
  _exit(0);
}

class Helper {
 public:
  Helper(const UniqueFd& socket, std::shared_ptr<const Store> store, KnownMount& known)
      : socket_(socket), known_(known), paths_(std::move(store)), watch_(paths_) {}

  // Returns when the daemon has gone, or the mount.
  void Run() {
    while (WaitForWork()) {
      if (watch_.fd() >= 0 && Clock::now() >= next_look_) TellOpens({});
      alignas(HelperHeader) std::array<std::byte, kHelperPacketBytesMax> packet;
      const ssize_t bytes = recv(socket_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
      if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (bytes < static_cast<ssize_t>(sizeof(HelperHeader))) return;
      const Status status = Obey(std::span(packet).first(static_cast<size_t>(bytes)));
      if (!status.ok()) return Say(socket_, HelperVerb::kLost, status.text());
    }
  }

 private:
  // Until a packet has come or opens are to be looked at. False: the daemon is gone.
  bool WaitForWork() {
    const bool watching = watch_.fd() >= 0;
    const auto until_look = std::chrono::ceil<std::chrono::milliseconds>(next_look_ - Clock::now()).count();
    const bool pausing = watching && until_look > 0;
    std::array<pollfd, 2> ready = {{{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                                    {.fd = pausing ? -1 : watch_.fd(), .events = POLLIN, .revents = 0}}};
    const int count = poll(ready.data(), ready.size(), pausing ? static_cast<int>(until_look) : -1);
    return count >= 0 || errno == EINTR;
  }

  Status Obey(std::span<const std::byte> packet) {
    HelperHeader header;
    std::memcpy(&header, packet.data(), sizeof header);
    const auto body = packet.subspan(sizeof header);
    if (header.verb == HelperVerb::kAttach) return Attach(body);
    if (header.verb == HelperVerb::kShow) return Show(body);
    std::vector<EntryNumber> entries(std::min<size_t>(header.count, body.size() / sizeof(EntryNumber)));
    std::memcpy(entries.data(), body.data(), entries.size() * sizeof(EntryNumber));
    {
      AUGUR_TRY_ASSIGN(root, MountRoot::Open(path_, mount_));
      if (header.verb == HelperVerb::kStat) Stat(root, entries);
      if (header.verb == HelperVerb::kDrop) Drop(root, entries);
      if (header.verb == HelperVerb::kWatch) Watch(entries);
    }
    // Who has the answer finds the mount not in use.
    if (header.verb != HelperVerb::kWatch) Say(socket_, HelperVerb::kDone, {});
    return Status::Ok();
  }

  Status Attach(std::span<const std::byte> body) {
    std::memcpy(&mount_, body.data(), sizeof mount_);
    body = body.subspan(sizeof mount_);
    path_.assign(reinterpret_cast<const char*>(body.data()), body.size());
    AUGUR_TRY(MountRoot::Open(path_, mount_).status());
    known_.Set(path_, mount_);
    Say(socket_, HelperVerb::kAttached, {});
    return Status::Ok();
  }

  Status Show(std::span<const std::byte> body) {
    HelperView view;
    std::memcpy(&view, body.data(), sizeof view);
    body = body.subspan(sizeof view);
    return paths_.Show(view.number, std::string_view(reinterpret_cast<const char*>(body.data()), body.size()),
                       view.is_root != 0);
  }

  void Stat(const MountRoot& root, std::span<const EntryNumber> files) {
    for (const EntryNumber file : files) {
      const Result<std::string> path = paths_.PathOf(file);
      if (path.ok()) root.Stat(*path);
    }
  }

  // What others open meanwhile is told apart from our own opens by looking at the opens before and after: of each file
  // that we open, one open is ours. (An open by somebody else right next to ours makes one event with it, and is lost.)
  void Drop(const MountRoot& root, std::span<const EntryNumber> files) {
    TellOpens({});
    for (const EntryNumber file : files) {
      const Result<std::string> path = paths_.PathOf(file);
      if (path.ok()) root.Drop(*path);
    }
    TellOpens(files);
  }

  void Watch(std::span<const EntryNumber> folders) {
    for (const EntryNumber folder : folders) {
      const Result<std::string> path = paths_.PathOf(folder);
      if (!path.ok()) continue;
      const Status status = watch_.Add(folder, path->empty() ? path_ : path_ + "/" + *path);
      if (status.ok()) continue;
      Say(socket_, HelperVerb::kNotWatched, status.text());
      return;  // the limit holds for the others too
    }
  }

  // Tells the daemon of the opens so far, but for one of each in `own`.
  void TellOpens(std::span<const EntryNumber> own) {
    if (watch_.fd() < 0) return;
    opened_.clear();
    if (!watch_.Take(opened_) && !overflow_told_) {
      overflow_told_ = true;
      Say(socket_, HelperVerb::kNote,
          "opens were missed: more came than the queue holds; raise fs.inotify.max_queued_events with sysctl");
    }
    if (opened_.size() < kOpensFew) pause_ = std::min(2 * pause_, kBetweenLooksMax);
    if (opened_.size() > kOpensMany) pause_ = std::max(pause_ / 2, kBetweenLooksMin);
    next_look_ = Clock::now() + pause_;
    if (!own.empty()) {
      std::unordered_multiset<EntryNumber> ours(own.begin(), own.end());
      std::erase_if(opened_, [&](const OpenWatch::Open& open) {
        if (open.view != paths_.shown()) return false;
        const auto mine = ours.find(open.file);
        if (mine == ours.end()) return false;
        ours.erase(mine);
        return true;
      });
    }
    std::vector<EntryNumber> files;
    for (size_t i = 0; i < opened_.size(); ++i) {
      files.push_back(opened_[i].file);
      const bool last = i + 1 == opened_.size() || opened_[i + 1].view != opened_[i].view;
      if (!last && files.size() < kHelperEntriesMax) continue;
      Send(socket_, HelperPacket(HelperVerb::kOpened, files.size(), std::as_bytes(std::span(files)), opened_[i].view));
      files.clear();
    }
  }

  const UniqueFd& socket_;
  KnownMount& known_;
  ShownPaths paths_;
  OpenWatch watch_;
  HelperMount mount_;
  std::string path_;
  std::chrono::milliseconds pause_ = kBetweenLooksMin;
  Clock::time_point next_look_;
  bool overflow_told_ = false;
  std::vector<OpenWatch::Open> opened_;
};

// The descriptors of the daemon stay with the daemon: a caller who reads its output must see the end of it, and a lock
// on the store must end with it.
UniqueFd KeepOnly(UniqueFd socket) {
  constexpr int kSocket = STDERR_FILENO + 1;
  if (socket.get() != kSocket) {
    dup2(socket.get(), kSocket);
    socket.Release();
  }
  close_range(kSocket + 1, UINT_MAX, 0);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, stream);
  if (null > STDERR_FILENO) close(null);
  (void)socket.Release();
  return UniqueFd(kSocket);
}

void SettleSignals() {
  // The daemon decides when to end; a signal to all of a group or service is for it.
  for (const int ignored : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGUSR2, SIGTSTP}) {
    (void)signal(ignored, SIG_IGN);
  }
  (void)signal(SIGBUS, SIG_DFL);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, kDaemonDied);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

Status Work(const UniqueFd& socket, const std::string& store_path, uint64_t generation, pid_t daemon) {
  // Opened anew: the one that we inherit ends with its descriptors.
  AUGUR_TRY_ASSIGN(store, Store::Open(store_path, {.generation = generation}));
  if (chdir("/") != 0) return ErrnoStatus(errno, "/");  // the caller's folder is not ours to keep in use
  KnownMount known;
  AUGUR_TRY_ASSIGN(guard, StartThread("augur-guard", [&known, daemon] { Guard(known, daemon); }));
  Helper(socket, store, known).Run();
  // The guard is left running: `known` must stay as long as the process does.
  _exit(0);
}

}  // namespace

void RunHelperProcess(UniqueFd inherited, const std::string& store_path, uint64_t generation, pid_t daemon) {
  SettleSignals();
  prctl(PR_SET_PDEATHSIG, kDaemonDied);
  if (getppid() != daemon) _exit(0);  // it died before we could ask to be told
  setsid();
  prctl(PR_SET_NAME, kName);
  SetProcessTitle(kName);
  const UniqueFd socket = KeepOnly(std::move(inherited));
  const Status status = Work(socket, store_path, generation, daemon);
  Say(socket, HelperVerb::kLost, status.text());
  _exit(1);
}

}  // namespace augur
