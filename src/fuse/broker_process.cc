// SPDX-License-Identifier: Apache-2.0
#include "fuse/broker_process.h"

#include <linux/capability.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/capabilities.h"
#include "fuse/broker_message.h"
#include "fuse/child_process.h"
#include "fuse/connection_abort.h"
#include "fuse/held_daemon.h"
#include "fuse/mount_clone.h"
#include "fuse/mount_root.h"
#include "fuse/passed_fds.h"
#include "fuse/read_ahead.h"
#include "readers/proc_source.h"

namespace augur {
namespace {

// Sent by the kernel when the daemon's main thread ends. Blocked; read from a signalfd.
constexpr int kDaemonDied = SIGUSR1;

// What it keeps of root's capabilities once it has mounted.
constexpr auto kKept = std::to_array<int>({
    CAP_SYS_ADMIN,        // umount2(2)
    CAP_DAC_READ_SEARCH,  // the way to a mount point in a folder that is closed to others, and /proc/PID/environ
    CAP_SYS_PTRACE,       // /proc/PID/environ of a reader that is another user's, or has capabilities
});

class BrokerProcess {
 public:
  BrokerProcess(UniqueFd socket, MountPoint& point, const BrokerOptions& options, pid_t daemon)
      : socket_(std::move(socket)), point_(point), options_(options), daemon_(daemon) {
    if (point_.is_made()) Settle();
  }

  // Returns when the daemon has gone.
  void Run() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, kDaemonDied);
    const UniqueFd signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    while (true) {
      std::array<pollfd, 3> ready = {{{.fd = signals.get(), .events = POLLIN, .revents = 0},
                                      {.fd = socket_.get(), .events = POLLIN, .revents = 0},
                                      {.fd = watch_.get(), .events = POLLIN, .revents = 0}}};
      if (poll(ready.data(), ready.size(), -1) < 0) continue;
      signalfd_siginfo info{};
      // The signal says that it is from the dying process; what others send is not meant for us.
      if (read(signals.get(), &info, sizeof info) == sizeof info && static_cast<pid_t>(info.ssi_pid) == daemon_) break;
      if (ready[1].revents != 0 && !Serve()) break;
      if (ready[2].revents != 0) break;
    }
    if (abort_ && aborts_) abort_->Abort();
  }

 private:
  // One request. False: the daemon is gone.
  bool Serve() {
    BrokerRequest request;
    std::vector<UniqueFd> none;
    const ssize_t bytes = ReceiveWithFds(socket_.get(), std::as_writable_bytes(std::span(&request, 1)), none);
    if (bytes != sizeof request) return false;
    switch (request.verb) {
      case BrokerVerb::kMount: Mount(); return true;
      case BrokerVerb::kReadAhead: Answer({}, SetReadAhead(point_.device_number(), request.bytes), {}); return true;
      case BrokerVerb::kUnmount: Unmount(); return true;
      case BrokerVerb::kLaunch: Launch(request.pid); return true;
      case BrokerVerb::kWatch:
        watch_ = OpenThread(static_cast<pid_t>(request.pid));
        Answer({}, Status::Ok(), {});
        return true;
      case BrokerVerb::kAbortInTheEnd:
        aborts_ = true;
        Answer({}, Status::Ok(), {});
        return true;
    }
    return false;
  }

  // The mount is made: prepares for its end, and gives up what that does not take.
  void Settle() {
    device_ = ParseMountDevice(point_.device_number());
    if (device_) abort_.emplace(point_.path(), *device_);
    GiveUpPrivileges();
  }

  void Mount() {
    if (!point_.is_made()) {
      if (const Status status = point_.Mount(); !status.ok()) return Answer({}, status, {});
      Settle();
    }
    BrokerReply reply;
    const std::string& number = point_.device_number();
    std::copy_n(number.begin(), std::min(number.size(), reply.device_number.size() - 1), reply.device_number.begin());
    std::string note;
    UniqueFd clone;
    if (device_ && options_.clone) clone = Clone(*device_, note);
    const UniqueFd device = point_.TakeDevice();
    std::vector<int> fds;
    if (device.valid()) fds.push_back(device.get());
    reply.device_sent = device.valid() ? 1 : 0;
    if (clone.valid()) fds.push_back(clone.get());
    Send(reply, note, fds);
  }

  UniqueFd Clone(const MountDevice& mount, std::string& note) {
    Result<UniqueFd> clone = CloneMount(point_.path());
    // Another mount may lie over ours by now.
    if (clone.ok() && !LiesOn(clone->get(), mount)) clone = Status(Code::kChanged, "another mount lies over it");
    if (clone.ok()) return std::move(clone).value();
    note = "a umount may find the mount in use by the process augur-helper: no clone of the mount: " +
           clone.status().text();
    return {};
  }

  void Unmount() {
    const Result<bool> in_use = point_.Unmount();
    Answer({.in_use = in_use.ok() && *in_use ? 1U : 0U}, in_use.status(), {});
  }

  void Launch(uint32_t pid) {
    const LaunchFacts facts = source_.Launch(pid);
    Answer({.launch = facts.launch, .rank = facts.rank, .world_size = facts.world_size}, Status::Ok(), {});
  }

  // Root's; an ordinary user has none to give, and fusermount3 is set-user-id.
  static void GiveUpPrivileges() {
    if (geteuid() != 0) return;
    (void)KeepCapabilities(kKept);
    (void)RefuseNewPrivileges();
  }

  void Answer(BrokerReply reply, const Status& status, std::span<const int> fds) {
    reply.code = static_cast<int32_t>(status.code());
    Send(reply, status.text(), fds);
  }

  void Send(const BrokerReply& reply, const std::string& text, std::span<const int> fds) {
    const auto head = std::as_bytes(std::span(&reply, 1));
    const auto tail = std::as_bytes(std::span(text)).first(std::min(text.size(), kBrokerPacketBytesMax - head.size()));
    std::vector<std::byte> packet(head.begin(), head.end());
    packet.insert(packet.end(), tail.begin(), tail.end());
    (void)SendWithFds(socket_.get(), packet, fds);
  }

  const UniqueFd socket_;
  MountPoint& point_;
  const BrokerOptions options_;
  const pid_t daemon_;
  UniqueFd watch_;  // a pidfd of a thread of the daemon
  ProcSource source_;
  std::optional<MountDevice> device_;  // once the mount is made, and can be seen
  std::optional<ConnectionAbort> abort_;
  bool aborts_ = options_.abort;
};

}  // namespace

void RunBrokerProcess(UniqueFd inherited, MountPoint& point, const BrokerOptions& options, pid_t daemon) {
  UniqueFd socket = BecomeChild("augur-broker", std::move(inherited), daemon, kDaemonDied, &point.folder());
  // The caller's folder is not ours to keep in use.
  if (chdir("/") == 0) BrokerProcess(std::move(socket), point, options, daemon).Run();
  _exit(0);
}

}  // namespace augur
