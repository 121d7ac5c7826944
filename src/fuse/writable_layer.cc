// SPDX-License-Identifier: Apache-2.0
#include "fuse/writable_layer.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/capabilities.h"
#include "base/mount_table.h"
#include "base/units.h"
#include "fuse/child_process.h"
#include "fuse/fusermount.h"
#include "fuse/passed_fds.h"
#include "fuse/spawn_plan.h"

namespace augur {
namespace {

constexpr size_t kPacketBytesMax = 8192;

// What root keeps once the overlay is there: umount2(2), and the way to a folder that is closed to others.
constexpr auto kKeptByOverlay = std::to_array<int>({CAP_SYS_ADMIN, CAP_DAC_READ_SEARCH});

std::span<const std::byte> BytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

class OverlayProcess {
 public:
  OverlayProcess(UniqueFd socket, MountPoint& point, WritableRequest request)
      : socket_(std::move(socket)), point_(point), request_(std::move(request)) {}

  // Returns when both mounts are gone, or the overlay is not wanted: then the folders made for it are gone, too.
  void Run() {
    std::array<std::byte, kPacketBytesMax> packet;
    if (const ssize_t bytes = Receive(packet); bytes > 0) {
      const Status status =
          Mount(std::string(reinterpret_cast<const char*>(packet.data()), static_cast<size_t>(bytes)));
      Answer(status);
      if (status.ok()) {
        socket_.Reset();
        if (geteuid() == 0) (void)KeepCapabilities(kKeptByOverlay);
        return Watch();
      }
      // Until the daemon has unmounted what lies below.
      while (Receive(packet) > 0) continue;
    }
    if (!is_laid_) request_.folder.Undo();
  }

 private:
  // The kernel gives a number again once its mount is gone.
  struct Identity {
    uint64_t id = 0;
    std::string device;
  };

  ssize_t Receive(std::span<std::byte> packet) {
    std::vector<UniqueFd> none;
    return ReceiveWithFds(socket_.get(), packet, none);
  }

  Status Mount(const std::string& tree) {
    AUGUR_TRY(request_.folder.Claim(tree));
    AUGUR_TRY(geteuid() == 0 ? MountAsRoot() : MountAsUser());
    is_laid_ = true;
    mounts_.Reset(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
    AUGUR_TRY_ASSIGN(rows, ReadMountTable());
    const MountRow* const overlay = TopmostMount(rows, point_.path());
    const MountRow* const lower = TopmostMount(rows, request_.folder.lower());
    if (!mounts_.valid() || overlay == nullptr || lower == nullptr || lower->type != kAugurfsType) {
      (void)EndOverlay();
      return {Code::kChanged, Printable(point_.path()) + ": was unmounted meanwhile: mount again"};
    }
    overlay_ = {overlay->id, overlay->device};
    lower_ = {lower->id, lower->device};
    // Without it augurctl must be given the lower folder. The mount is as good.
    if (overlay->type == kUserOverlayType) (void)request_.folder.NoteOverlay(overlay->device);
    return Status::Ok();
  }

  std::string Layers() const {
    return "lowerdir=" + request_.folder.lower() + ",upperdir=" + request_.folder.upper() +
           ",workdir=" + request_.folder.work();
  }

  Status MountAsRoot() {
    // redirect_dir: a folder can be renamed. What that writes names paths of the lower tree, which Claim holds still.
    const std::string data = Layers() + ",redirect_dir=on";
    const unsigned long flags = MS_NOSUID | MS_NODEV | (request_.noexec ? MS_NOEXEC : 0);
    // By its descriptor, as MountPoint does it.
    const std::string opened = "/proc/self/fd/" + std::to_string(point_.folder().get());
    const int done = mount(request_.source.c_str(), opened.c_str(), "overlay", flags, data.c_str());
    const int error = errno;
    point_.LeaveFolder();
    if (done == 0) return Status::Ok();
    const std::string what = "-o writable: " + Printable(request_.folder.path()) + ": overlay: ";
    if (error == ENODEV) {
      return {Code::kUnsupported, what + "this kernel has no overlayfs: load its module (modprobe overlay)"};
    }
    Status status = ErrnoStatus(error, what + "mount");
    if (error != EINVAL) return status;
    return {Code::kUnsupported, status.text() +
                                    ": choose a folder on a local file system (ext4, xfs, btrfs, tmpfs) that is "
                                    "not an overlay itself, as the root of a container is"};
  }

  Status MountAsUser() {
    point_.LeaveFolder();
    std::array<int, 2> complaints{};
    if (pipe2(complaints.data(), O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
    const UniqueFd complaint_read(complaints[0]);
    UniqueFd complaint_write(complaints[1]);
    SpawnPlan plan;
    plan.Give(complaint_write.get(), STDERR_FILENO);
    pid_t pid = -1;
    const std::string options = Layers() + (request_.noexec ? ",noexec" : "");
    const int error = plan.Spawn({"fuse-overlayfs", "-o", options, point_.path()}, {}, &pid);
    complaint_write.Reset();
    if (error == ENOENT) {
      return {Code::kUnsupported,
              "-o writable: an ordinary user needs fuse-overlayfs, which is not installed: apt-get install "
              "fuse-overlayfs, or mount as root, who needs nothing more"};
    }
    if (error != 0) return ErrnoStatus(error, "fuse-overlayfs");
    if (WaitForEnd(pid) == 0) return Status::Ok();
    // A process that it has left in the background may keep its stderr.
    (void)fcntl(complaint_read.get(), F_SETFL, O_NONBLOCK);
    return {Code::kUnsupported, "-o writable: fuse-overlayfs: " + Printable(ReadAsLine(complaint_read.get()))};
  }

  // Until one of the two is gone; takes the other one away.
  void Watch() {
    while (true) {
      const Result<std::vector<MountRow>> rows = ReadMountTable();
      const auto is_there = [&](const Identity& mount) {
        return !rows.ok() || std::ranges::any_of(*rows, [&](const MountRow& row) {
          return row.id == mount.id && row.device == mount.device;
        });
      };
      const bool overlay = is_there(overlay_);
      const bool lower = is_there(lower_);
      if (!overlay && lower) return (void)Detach(request_.folder.lower());
      if (!lower && overlay) return (void)EndOverlay();
      if (!lower) return;
      pollfd changed = {.fd = mounts_.get(), .events = POLLPRI, .revents = 0};
      (void)poll(&changed, 1, -1);
    }
  }

  bool EndOverlay() const { return Detach(point_.path()); }

  // At once also when it is in use: files still open go on until they are closed, or the daemon is gone.
  static bool Detach(const std::string& path) {
    if (geteuid() != 0) return UnmountByFusermount(path, /*lazy=*/true).ok();
    return umount2(path.c_str(), UMOUNT_NOFOLLOW) == 0 || umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0;
  }

  void Answer(const Status& status) {
    std::string packet(sizeof(int32_t), '\0');
    const auto code = static_cast<int32_t>(status.code());
    std::memcpy(packet.data(), &code, sizeof code);
    packet += status.text().substr(0, kPacketBytesMax - sizeof code);
    (void)SendWithFds(socket_.get(), BytesOf(packet), {});
  }

  UniqueFd socket_;
  MountPoint& point_;
  WritableRequest request_;
  bool is_laid_ = false;  // it was there, and programs may have written
  UniqueFd mounts_;
  Identity overlay_;
  Identity lower_;
};

}  // namespace

Result<WritableLayer> WritableLayer::Fork(MountPoint& point, WritableRequest request) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return ErrnoStatus(errno, "socketpair");
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  // Twice, so that it is no child of the daemon or the holder, which wait for theirs.
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, "fork");
  if (child == 0) {
    const pid_t own = fork();
    if (own != 0) _exit(own < 0 ? 1 : 0);
    ours.Reset();
    UniqueFd socket = BecomeOwnProcess("augur-overlay", std::move(theirs), &point.folder());
    if (chdir("/") == 0) OverlayProcess(std::move(socket), point, std::move(request)).Run();
    _exit(0);
  }
  if (WaitForEnd(child) != 0) return Status(Code::kIo, "fork: the system gives no process");
  return WritableLayer(std::move(ours));
}

Status WritableLayer::Mount(const std::string& tree) {
  std::array<std::byte, kPacketBytesMax> packet;
  std::vector<UniqueFd> none;
  ssize_t bytes = 0;
  if (SendWithFds(socket_.get(), BytesOf(tree), {})) {
    bytes = ReceiveWithFds(socket_.get(), packet, none);
  }
  int32_t code = 0;
  if (bytes < static_cast<ssize_t>(sizeof code)) {
    return {Code::kStopped, "the process augur-overlay, which makes the mount writable, is gone: mount again"};
  }
  std::memcpy(&code, packet.data(), sizeof code);
  // Otherwise it waits for GiveUp.
  if (static_cast<Code>(code) == Code::kOk) socket_.Reset();
  return {static_cast<Code>(code), std::string(reinterpret_cast<const char*>(packet.data()) + sizeof code,
                                               static_cast<size_t>(bytes) - sizeof code)};
}

void WritableLayer::GiveUp() {
  if (!socket_.valid()) return;
  (void)shutdown(socket_.get(), SHUT_WR);
  std::array<std::byte, kPacketBytesMax> packet;
  std::vector<UniqueFd> none;
  while (ReceiveWithFds(socket_.get(), packet, none) > 0) continue;
  socket_.Reset();
}

}  // namespace augur
