// SPDX-License-Identifier: Apache-2.0
#include "fuse/mount_refusal.h"

#include <unistd.h>

#include <cerrno>

#include "base/units.h"

namespace augur {
namespace {

constexpr const char* kDevice = "/dev/fuse";
constexpr const char* kNoDevice =
    "; load the module (modprobe fuse), or, in a container, start it with --device /dev/fuse --cap-add SYS_ADMIN "
    "(docker)";
constexpr const char* kForbiddenDevice =
    "; in a container, start it with --device /dev/fuse --cap-add SYS_ADMIN (docker)";

}  // namespace

Status DeviceRefusal(int error) {
  Status status = ErrnoStatus(error, kDevice);
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO: return {Code::kUnsupported, status.text() + kNoDevice};
    case EACCES:
    case EPERM: return {Code::kUnsupported, status.text() + kForbiddenDevice};
    case EMFILE: return {status.code(), status.text() + "; raise the limit of open files (ulimit -n)"};
    case ENFILE: return {status.code(), status.text() + "; raise fs.file-max with sysctl"};
    default: return status;
  }
}

Status MountRefusal(int error, const std::string& path) {
  Status status = ErrnoStatus(error, Printable(path) + ": mount");
  switch (error) {
    case EPERM:
    case EACCES:
      return {Code::kPermission, status.text() +
                                     ": this root may not mount (no CAP_SYS_ADMIN, or forbidden by seccomp or "
                                     "AppArmor); in a container, start it with --cap-add SYS_ADMIN --security-opt "
                                     "apparmor=unconfined (docker)"};
    case ENODEV:
      return {Code::kUnsupported, status.text() + ": this kernel has no FUSE; load the module (modprobe fuse)"};
    case ENOSPC: return {status.code(), status.text() + ": too many mounts; raise fs.mount-max with sysctl"};
    default: return status;
  }
}

std::string UserCure(bool nosymfollow, std::string_view complaint, const std::string& path) {
  if (nosymfollow) {
    return "; nosymfollow is for users only where fusermount3 knows it: let root mount, or leave out -o nosymfollow";
  }
  // "option allow_other only allowed if 'user_allow_other' is set in /etc/fuse.conf"
  if (complaint.find("user_allow_other") != std::string_view::npos) {
    return "; let root add that line, or leave out -o allow_other";
  }
  // fusermount3 writes the user's name into /etc/mtab.
  if (complaint.find("could not determine username") != std::string_view::npos) {
    return "; this user has no line in /etc/passwd: add one, or let root mount with -o allow_other";
  }
  if (access(kDevice, F_OK) != 0) return std::string("; there is no /dev/fuse") + kNoDevice;
  if (access(kDevice, R_OK | W_OK) != 0) {
    return "; /dev/fuse is closed to ordinary users here: let root do chmod 666 /dev/fuse, or run as root";
  }
  if (access(path.c_str(), W_OK) != 0) return "; an ordinary user can mount only on a folder that they may write to";
  return "";
}

}  // namespace augur
