// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "base/capabilities.h"
#include "base/unique_fd.h"
#include "fuse/broker.h"
#include "fuse/mount_point.h"
#include "fuse/writable_folder.h"
#include "tools/augurfs_options.h"
#include "tools/brokered_source.h"

namespace augur {

// DaemonMount is the mount point and the daemon's right to it. It knows as whom the daemon serves, and has the broker
// that mounts and unmounts once the daemon has given its privileges up. For one thread; processes() says itself who may
// use it.
class DaemonMount {
 public:
  // Checks the mount point, and as whom to serve. kInvalid, kPermission: run-as, cache-group or the mount point; as
  // MountPoint::Check.
  // With `made` another program has done that with the mount point, which is not looked at: MountPoint::Made.
  // With -o writable= it makes the folders of WritableFolder; after a failure nothing is left of them.
  static Result<std::unique_ptr<DaemonMount>> Prepare(const AugurfsOptions& options, bool made);
  DaemonMount(const DaemonMount&) = delete;
  DaemonMount& operator=(const DaemonMount&) = delete;

  // Leaves what takes privileges to the broker, and gives them up. `made`: device_number() of the daemon that has
  // mounted. `held`: a Holder has the mount. REQUIRES: this process has one thread. As Broker::Fork.
  Status GiveUpRights(const std::optional<std::string>& made, bool held);
  // For a process that does not mount: the folder below the mount is not kept in use.
  void LeaveFolder() {
    mount_point_.LeaveFolder();
    if (layer_point_) layer_point_->LeaveFolder();
  }
  // The descriptor that was handed down, for who serves it or keeps it; else invalid.
  UniqueFd TakeHandedDown() { return mount_point_.TakeDevice(); }

  // Mounts, unless there is a descriptor of the mount already. Afterwards the descriptors are there to be taken.
  Status Mount(UniqueFd device);
  const UniqueFd& device() const { return mounted_.device; }
  UniqueFd TakeDevice() { return std::move(mounted_.device); }
  UniqueFd TakeClone() { return std::move(mounted_.clone); }
  // Takes the mount away, and logs when it was in use. Nothing to do where the descriptor was handed down: who did
  // that unmounts.
  Status Unmount();
  // As Broker::Watch, where there is a broker.
  void Watch(pid_t thread);
  // The Holder is gone: the broker does its part when this daemon dies.
  void AbortInTheEnd();
  // Where root mounts and the mount can be seen: how far the kernel reads ahead in a file. REQUIRES: the mount answers.
  void SetReadAhead(uint64_t bytes);

  // Absolute, or /dev/fd/N. With -o writable= it is WritableFolder::lower.
  const std::string& path() const { return mount_point_.path(); }
  // Where programs find the tree: path(), or the overlay over it.
  const std::string& shown_path() const { return layer_point_ ? layer_point_->path() : path(); }
  // The kernel's overlay opens what lies below it without a word to inotify(7). (fuse-overlayfs is a reader like
  // others.)
  bool hides_opens() const { return layer_point_.has_value() && (run_as_ || geteuid() == 0); }
  // With -o writable=: where the overlay will be, for WritableLayer::Fork; else nullptr.
  MountPoint* layer_point() { return layer_point_ ? &*layer_point_ : nullptr; }
  // Its folder; without -o writable= that of no path.
  const WritableFolder& writable() const { return writable_; }
  bool handed_down() const { return MountPoint::HandedDownFd(path()) >= 0; }
  // After Mount: MountPoint::device_number; what could not be had, often empty.
  const std::string& device_number() const { return mounted_.device_number; }
  const std::string& note() const { return mounted_.note; }

  // Nothing: as who started us.
  const std::optional<User>& run_as() const { return run_as_; }
  // Of -o cache-group=.
  const std::optional<gid_t>& cache_group() const { return cache_group_; }
  // With -o cache=shm: the folder for what mounts share (SharedMemoryFolder), or why there is none. Root's is a mount
  // of its own, which was made while there was the right to it.
  const Result<std::string>& shared_folder() const { return shared_folder_; }
  // An environment variable that tells where the user's files are; empty where it is another user's.
  std::string UserVariable(const char* name) const;
  // For the control socket, and for the log where there is no system log: of the user who serves, the best first.
  std::vector<std::string> RuntimeFolders() const;
  std::string UserHome() const { return run_as_ ? run_as_->home : UserVariable("HOME"); }
  // Looks at readers of all users; nullptr: only root may.
  ProcessSource* processes() const { return processes_.get(); }

 private:
  DaemonMount(std::optional<User> run_as, std::optional<gid_t> cache_group, Result<std::string> shared_folder,
              MountPoint mount_point, std::optional<MountPoint> layer_point, WritableFolder writable, bool clone)
      : clone_(clone),
        run_as_(std::move(run_as)),
        cache_group_(cache_group),
        shared_folder_(std::move(shared_folder)),
        mount_point_(std::move(mount_point)),
        layer_point_(std::move(layer_point)),
        writable_(std::move(writable)) {}

  const bool clone_;  // the helper wants one
  const std::optional<User> run_as_;
  const std::optional<gid_t> cache_group_;
  const Result<std::string> shared_folder_;
  MountPoint mount_point_;
  std::optional<MountPoint> layer_point_;  // of -o writable=
  const WritableFolder writable_;          // of the same
  std::unique_ptr<Broker> broker_;         // nullptr: the descriptor was handed down
  std::unique_ptr<BrokeredSource> processes_;
  Broker::Mounted mounted_;
};

}  // namespace augur
