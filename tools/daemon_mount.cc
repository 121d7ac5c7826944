// SPDX-License-Identifier: Apache-2.0
#include "tools/daemon_mount.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/units.h"
#include "cache/shared_folder.h"
#include "control/control_socket.h"
#include "fuse/writable_folder.h"
#include "tools/daemon_privileges.h"
#include "tools/group_number.h"
#include "tools/store_place.h"
#include "tools/user_account.h"

namespace augur {
namespace {

Result<std::string> SharedFolder(const AugurfsOptions& options, bool as_other_user, std::optional<gid_t> group) {
  if (options.cache.place != CachePlace::kShm) return Status(Code::kNotFound, "nothing is shared without cache=shm");
  if (as_other_user) return std::string(kSharedMemory);
  return SharedMemoryFolder(group);
}

}  // namespace

Result<std::unique_ptr<DaemonMount>> DaemonMount::Prepare(const AugurfsOptions& options, bool made) {
  std::optional<User> run_as;
  if (!options.run_as.empty()) {
    AUGUR_TRY_ASSIGN(user, FindUser(options.run_as));
    if (geteuid() != 0 && geteuid() != user.uid) {
      return Status(Code::kPermission, "-o run-as=" + user.name + ": only root can serve as another user");
    }
    if (geteuid() == 0) run_as = std::move(user);
  }
  std::optional<gid_t> cache_group;
  if (!options.cache.group.empty()) {
    AUGUR_TRY_ASSIGN(number, GroupNumber(options.cache.group));
    cache_group = number;
  }
  MountRequest request = {.path = options.mountpoint,
                          .source = StoreForLog(options.store),
                          .allow_other = options.flags.allow_other,
                          .noexec = options.flags.noexec,
                          .nosymfollow = options.flags.nosymfollow,
                          .owner = run_as ? run_as->uid : getuid(),
                          .owner_group = run_as ? run_as->gid : getgid()};
  std::optional<MountPoint> layer_point;
  WritableFolder writable(options.flags.writable);
  if (!options.flags.writable.empty()) {
    if (MountPoint::HandedDownFd(options.mountpoint) >= 0) {
      return Status(Code::kInvalid, options.mountpoint + ": -o writable: takes a mount point, not a descriptor");
    }
    AUGUR_TRY_ASSIGN(point, made ? MountPoint::Made(request) : MountPoint::Check(request));
    if (!made) AUGUR_TRY(writable.Make(point.path()));
    layer_point = std::move(point);
    request.path = writable.lower();
    // The overlay looks in as the user who mounts it.
    request.allow_other = request.allow_other || run_as.has_value();
  }
  Result<MountPoint> mount_point = made ? MountPoint::Made(request) : MountPoint::Check(request);
  if (!mount_point.ok()) {
    if (layer_point) writable.Undo();
    return mount_point.status();
  }
  Result<std::string> shared_folder = SharedFolder(options, run_as.has_value(), cache_group);
  return std::unique_ptr<DaemonMount>(new DaemonMount(std::move(run_as), cache_group, std::move(shared_folder),
                                                      std::move(mount_point).value(), std::move(layer_point),
                                                      std::move(writable), options.predict));
}

Status DaemonMount::GiveUpRights(const std::optional<std::string>& made, bool held) {
  if (made) mount_point_.TakeOver(*made);
  if (!handed_down()) {
    AUGUR_TRY_ASSIGN(broker, Broker::Fork(mount_point_, {.clone = clone_, .abort = !held}));
    broker_ = std::move(broker);
    LeaveFolder();  // the broker has it, and augur-overlay
    if (geteuid() == 0) processes_ = std::make_unique<BrokeredSource>(*broker_);
  }
  return GiveUpPrivileges(run_as_, cache_group_);
}

Status DaemonMount::Mount(UniqueFd device) {
  if (broker_) {
    AUGUR_TRY_ASSIGN(mounted, broker_->Mount());
    mounted_ = std::move(mounted);
  }
  if (device.valid()) mounted_.device = std::move(device);
  return Status::Ok();
}

void DaemonMount::Watch(pid_t thread) {
  if (broker_) (void)broker_->Watch(thread);
}

void DaemonMount::AbortInTheEnd() {
  if (broker_) (void)broker_->AbortInTheEnd();
}

Status DaemonMount::Unmount() {
  if (!broker_) return Status::Ok();
  AUGUR_TRY_ASSIGN(in_use, broker_->Unmount());
  if (in_use) {
    spdlog::warn("{}: the mount was in use: it is detached, and files still open will fail", Printable(path()));
  }
  return Status::Ok();
}

void DaemonMount::SetReadAhead(uint64_t bytes) {
  const bool by_root = processes_ != nullptr;
  if (!by_root || mounted_.device_number.empty()) return;
  const Status status = broker_->SetReadAhead(bytes);
  if (!status.ok()) spdlog::info("the kernel's read-ahead stays as it is: {}", status.text());
}

std::string DaemonMount::UserVariable(const char* name) const {
  const char* const value = run_as_ ? nullptr : getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread changes it
  return value != nullptr ? value : "";
}

std::vector<std::string> DaemonMount::RuntimeFolders() const {
  return ControlFolders(geteuid(), UserVariable("XDG_RUNTIME_DIR"));
}

}  // namespace augur
