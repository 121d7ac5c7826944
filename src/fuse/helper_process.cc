// SPDX-License-Identifier: Apache-2.0
#include "fuse/helper_process.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/capabilities.h"
#include "base/mount_table.h"
#include "base/units.h"
#include "fs/view_paths.h"
#include "fuse/child_process.h"
#include "fuse/helper_message.h"
#include "fuse/mount_device.h"
#include "fuse/mount_root.h"
#include "fuse/open_watch.h"
#include "fuse/passed_fds.h"

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

// After opens were told, the next are looked for this much later: each message wakes four threads, 30 us of CPU that
// the readers could have had. A reader at 8 us a file has opened 625 in the least of it, and one at 2 ms five in the
// most; a window of records ahead is several times that.
constexpr std::chrono::milliseconds kBetweenLooksMin(5);
constexpr std::chrono::milliseconds kBetweenLooksMax(10);
constexpr size_t kOpensFew = 16;
constexpr size_t kOpensMany = 64;

class Helper {
 public:
  Helper(const UniqueFd& socket, std::shared_ptr<const Store> store)
      : socket_(socket), paths_(std::move(store)), watch_(paths_) {}

  // Returns when the daemon has gone, or the mount.
  void Run() {
    while (WaitForWork()) {
      if (watch_.fd() >= 0 && Clock::now() >= next_look_) TellOpens({});
      if (mounts_changed_ && !StillMounted()) return Say(socket_, HelperVerb::kUnmounted, {});
      alignas(HelperHeader) std::array<std::byte, kHelperPacketBytesMax> packet;
      std::vector<UniqueFd> fds;
      const ssize_t bytes = ReceiveWithFds(socket_.get(), packet, fds, MSG_DONTWAIT);
      if (bytes < 0 && errno == EAGAIN) continue;
      if (bytes < static_cast<ssize_t>(sizeof(HelperHeader))) return;
      const Status status = Obey(std::span(packet).first(static_cast<size_t>(bytes)), fds);
      if (!status.ok()) return TellLoss(status);
    }
  }

 private:
  // Whatever fails where the mount is gone fails for that reason. It was there: the daemon has its device number from
  // what is mounted here.
  void TellLoss(const Status& status) {
    const Result<std::vector<MountRow>> rows = ReadMountTable();
    if (rows.ok() && !IsMounted(*rows, mount_)) return Say(socket_, HelperVerb::kUnmounted, {});
    Say(socket_, HelperVerb::kLost, status.text());
  }

  // Until a packet has come, opens are to be looked at or something was mounted or unmounted. False: the daemon is
  // gone.
  bool WaitForWork() {
    const bool watching = watch_.fd() >= 0;
    const auto until_look = std::chrono::ceil<std::chrono::milliseconds>(next_look_ - Clock::now()).count();
    const bool pausing = watching && until_look > 0;
    std::array<pollfd, 3> ready = {{{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                                    {.fd = pausing ? -1 : watch_.fd(), .events = POLLIN, .revents = 0},
                                    {.fd = mounts_.get(), .events = POLLPRI, .revents = 0}}};
    const int count = poll(ready.data(), ready.size(), pausing ? static_cast<int>(until_look) : -1);
    mounts_changed_ = ready[2].revents != 0;
    return count >= 0 || errno == EINTR;
  }

  Status Obey(std::span<const std::byte> packet, std::vector<UniqueFd>& fds) {
    HelperHeader header;
    std::memcpy(&header, packet.data(), sizeof header);
    const auto body = packet.subspan(sizeof header);
    if (header.verb == HelperVerb::kAttach) return Attach(body, fds);
    if (header.verb == HelperVerb::kSelectView) return SelectView(body);
    if (header.verb == HelperVerb::kUnwatch) {
      watch_.Clear();
      return Status::Ok();
    }
    std::vector<EntryNumber> entries(std::min<size_t>(header.count, body.size() / sizeof(EntryNumber)));
    std::memcpy(entries.data(), body.data(), entries.size() * sizeof(EntryNumber));
    if (clone_) {
      WorkIn(*clone_, header.verb, entries);
    } else {
      AUGUR_TRY_ASSIGN(root, MountRoot::Open(path_, mount_));
      WorkIn(root, header.verb, entries);
    }
    // Who has the answer finds the mount not in use.
    if (header.verb != HelperVerb::kWatch) Say(socket_, HelperVerb::kDone, {});
    return Status::Ok();
  }

  Status Attach(std::span<const std::byte> body, std::vector<UniqueFd>& fds) {
    std::memcpy(&mount_, body.data(), sizeof mount_);
    body = body.subspan(sizeof mount_);
    path_.assign(reinterpret_cast<const char*>(body.data()), body.size());
    if (fds.empty()) {
      AUGUR_TRY(MountRoot::Open(path_, mount_).status());
    } else {
      AUGUR_TRY(AttachTo(std::move(fds[0])));
    }
    Say(socket_, HelperVerb::kAttached, {});
    return Status::Ok();
  }

  Status AttachTo(UniqueFd clone) {
    // Paths from its root, which is the working folder from now on.
    if (fchdir(clone.get()) != 0) return ErrnoStatus(errno, Printable(path_));
    clone_.emplace(std::move(clone));
    mounts_.Reset(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
    if (!mounts_.valid()) return ErrnoStatus(errno, "/proc/self/mountinfo");
    if (!StillMounted()) return {Code::kChanged, Printable(path_) + ": no longer mounted here"};
    return Status::Ok();
  }

  // The clone keeps the file system alive, so the daemon learns of the umount only once we have let go.
  bool StillMounted() const {
    const Result<std::vector<MountRow>> rows = ReadMountTable();
    return rows.ok() && IsMounted(*rows, mount_);
  }

  void WorkIn(const MountRoot& root, HelperVerb verb, std::span<const EntryNumber> entries) {
    if (verb == HelperVerb::kStat) Stat(root, entries);
    if (verb == HelperVerb::kDrop) Drop(root, entries);
    if (verb == HelperVerb::kWatch) Watch(entries);
  }

  Status SelectView(std::span<const std::byte> body) {
    HelperView view;
    std::memcpy(&view, body.data(), sizeof view);
    body = body.subspan(sizeof view);
    return paths_.SelectView(view.number, std::string_view(reinterpret_cast<const char*>(body.data()), body.size()),
                             view.is_root != 0);
  }

  void Stat(const MountRoot& root, std::span<const EntryNumber> files) {
    for (const EntryNumber file : files) {
      const Result<std::string> path = paths_.PathOf(file);
      if (path.ok()) root.Stat(*path);
    }
  }

  // What others open meanwhile is told apart from our own opens by looking at the opens before and after: of each file
  // that we open, one open is ours. (An open by another process right next to ours makes one event with it, and is
  // lost.)
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
      const Status status = watch_.Add(folder, clone_ ? "./" + *path : path_ + "/" + *path);
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
        if (open.view != paths_.selected()) return false;
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
  ViewPaths paths_;
  OpenWatch watch_;
  MountDevice mount_;
  std::string path_;
  std::optional<MountRoot> clone_;  // nothing: the mount is looked at by its path
  UniqueFd mounts_;                 // with a clone: what is mounted, to be told of changes
  bool mounts_changed_ = false;
  std::chrono::milliseconds pause_ = kBetweenLooksMin;
  Clock::time_point next_look_;
  bool overflow_told_ = false;
  std::vector<OpenWatch::Open> opened_;
};

// What it keeps of the daemon's capabilities, if that is root's: folders of the mount that are closed to root, as those
// of -o uid= may be.
constexpr auto kKept = std::to_array<int>({CAP_DAC_READ_SEARCH});

Status Work(const UniqueFd& socket, const StorePlace& place, uint64_t generation) {
  AUGUR_TRY(KeepCapabilities(kKept));
  // Opened anew: the one that we inherit ends with its descriptors.
  AUGUR_TRY_ASSIGN(store, Store::Open(place, {.generation = generation}));
  if (chdir("/") != 0) return ErrnoStatus(errno, "/");  // the caller's folder is not ours to keep in use
  Helper(socket, store).Run();
  _exit(0);
}

}  // namespace

void RunHelperProcess(UniqueFd inherited, const StorePlace& place, uint64_t generation, pid_t daemon) {
  const UniqueFd socket = BecomeChild("augur-helper", std::move(inherited), daemon, SIGKILL);
  const Status status = Work(socket, place, generation);
  Say(socket, HelperVerb::kLost, status.text());
  _exit(1);
}

}  // namespace augur
