// SPDX-License-Identifier: Apache-2.0
#include "tools/control_commands/find_daemon.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "base/unique_fd.h"
#include "base/units.h"
#include "control/control_client.h"
#include "tools/control_commands/in_child.h"
#include "tools/control_commands/mount_of.h"

namespace augur {
namespace {

Status NotOurs(const std::string& mountpoint) {
  return {Code::kNotFound,
          Printable(mountpoint) +
              ": no AugurFS is mounted here; 'findmnt -t fuse.augurfs' lists the mounts that there are"};
}

Status Explain(int error, const std::string& mountpoint) {
  if (error == ENOTCONN || error == ECONNABORTED) {  // before it was asked, or while
    return {Code::kNotFound, Printable(mountpoint) +
                                 ": the daemon of this mount has ended: unmount it (fusermount3 -u, or umount as root) "
                                 "and mount it again"};
  }
  if (error == EACCES) {
    return {Code::kPermission,
            Printable(mountpoint) + ": this user may not look into it: run augurctl as the user who mounted it"};
  }
  return ErrnoStatus(error, Printable(mountpoint));
}

Result<std::string> ReadControlFile(const std::string& mountpoint) {
  const MountLook look = MountOf(mountpoint);
  if (!look.root.valid()) return look.error == 0 ? NotOurs(mountpoint) : Explain(look.error, mountpoint);
  const UniqueFd folder(openat(look.root.get(), ".augur", O_PATH | O_CLOEXEC | O_DIRECTORY));
  if (!folder.valid() && (errno == ENOENT || errno == ENOTDIR)) return NotOurs(mountpoint);
  if (!folder.valid()) return Explain(errno, mountpoint);
  const UniqueFd file(openat(folder.get(), kControlFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid() && errno == ENOENT) {
    return Status(Code::kNotFound, Printable(mountpoint) + ": the daemon has no control socket: its log says why");
  }
  if (!file.valid()) return Explain(errno, mountpoint);
  std::array<char, PATH_MAX> text{};
  const ssize_t bytes = read(file.get(), text.data(), text.size());
  if (bytes < 0) return Explain(errno, mountpoint);
  std::string path(text.data(), static_cast<size_t>(bytes));
  if (!path.starts_with('/') || !path.ends_with('\n')) return NotOurs(mountpoint);
  path.pop_back();
  return path;
}

}  // namespace

Result<std::string> FindDaemon(const std::string& mountpoint) {
  Result<std::string> path = InChild([&] { return ReadControlFile(mountpoint); }, kSilentMax);
  if (path.status().code() == Code::kBusy) return SilentDaemon().In(Printable(mountpoint));
  return path;
}

}  // namespace augur
