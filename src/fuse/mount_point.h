// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

struct MountRequest {
  std::string path;          // the mount point as typed, or /dev/fd/N
  std::string source;        // the store's folder, which /proc/mounts and df show
  bool allow_other = false;  // users other than the mounting one may look in
  bool noexec = false;       // no program in it may be run
  bool nosymfollow = false;  // no path leads through a symbolic link of it
  // Whose mount it is, who may look in without allow_other: the user who mounts, or as root another one.
  uid_t owner = 0;
  gid_t owner_group = 0;
};

// MountPoint gets a /dev/fuse descriptor, which is all it has to do with FUSE: serving it is Session's. As root it
// calls mount(2); an ordinary user's mount is made by fusermount3. A path /dev/fd/N is a descriptor that another
// program has mounted and hands down (mount.fuse3, container drivers), and is served as it is. One thread at a time.
// Owns the descriptor until TakeDevice; destroying it does not unmount. It never looks into the mount once it is made:
// that would be a request to ourselves.
class MountPoint {
 public:
  // Checks the path without mounting, so that a wrong one is told before the store is opened. A mount point of a daemon
  // that was killed is cleared, with a log line. kNotFound, kInvalid, kPermission: the path cannot be one. kExists: an
  // AugurFS is mounted there, or an overlay over one. kBusy: a dead mount of another kind. kInvalid too when it is the
  // store's own folder. In a program of root, a symbolic link of another user in the path is kPermission. A folder that
  // is not empty is told in the log.
  static Result<MountPoint> Check(const MountRequest& request);

  // The mount is there, made for another daemon: nothing is looked at, as there may be no daemon that answers. `path`
  // of the request is that daemon's path().
  static MountPoint Made(const MountRequest& request);

  // The N of /dev/fd/N; -1 for any other path.
  static int HandedDownFd(const std::string& path);

  // Mounts. kUnsupported: no FUSE in this kernel or container, or nosymfollow is not known here; kPermission: this user
  // may not; both with the cure. REQUIRES: the mount is not made.
  Status Mount();

  // The mount is there, made by another daemon: nothing is looked at. Instead of Mount.
  void TakeOver(const std::string& device_number) {
    device_number_ = device_number;
    is_made_ = true;
  }
  // By one of both.
  bool is_made() const { return is_made_; }

  // Takes the mount away, at once also when it is in use (files open then fail once the daemon is gone). Returns
  // whether it was. OK also when it is unmounted already, or the descriptor was handed down.
  Result<bool> Unmount() const;

  // The folder that is mounted on, for the process that mounts; nothing to do with it in any other.
  UniqueFd& folder() { return folder_; }
  void LeaveFolder() { folder_.Reset(); }
  UniqueFd TakeDevice() { return std::move(device_); }
  // Absolute, or /dev/fd/N.
  const std::string& path() const { return path_; }
  // "major:minor" of the mounted file system; empty when it cannot be seen from here.
  const std::string& device_number() const { return device_number_; }

 private:
  Status TakeFolder();
  Status MountAsRoot();
  Status MountAsUser();
  Result<bool> UnmountAsRoot() const;
  Result<bool> UnmountAsUser() const;

  MountRequest request_;
  std::string path_;
  std::string device_number_;
  UniqueFd device_;
  UniqueFd folder_;  // of the mount point, O_PATH, until it is mounted on: its path may lead elsewhere by then
  bool handed_down_ = false;
  bool is_made_ = false;
};

}  // namespace augur
