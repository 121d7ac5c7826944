// SPDX-License-Identifier: Apache-2.0
#include "tools/control_commands/find_daemon.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <optional>
#include <string_view>
#include <thread>

#include "base/mount_table.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "control/control_client.h"
#include "tools/control_commands/in_child.h"
#include "tools/control_commands/mount_of.h"

namespace augur {
namespace {

// One daemon follows another within that time as a rule.
constexpr std::chrono::seconds kNextWithin{1};
constexpr std::chrono::milliseconds kNextPause{20};

Status NotOurs(const std::string& mountpoint) {
  return {Code::kNotFound,
          Printable(mountpoint) +
              ": no AugurFS is mounted here; 'findmnt -t fuse.augurfs' lists the mounts that there are"};
}

// The next one may follow.
Status Ended(const std::string& mountpoint) {
  return {Code::kStopped, Printable(mountpoint) + ": the daemon of this mount ended while it was asked"};
}

Status Explain(int error, const std::string& mountpoint) {
  if (error == ENOTCONN || error == ECONNABORTED) {  // before it was asked, or while
    return {Code::kNotFound, Printable(mountpoint) +
                                 ": the daemon of this mount has ended: unmount it (fusermount3 -u, or umount as root) "
                                 "and mount it again"};
  }
  if (error == ECANCELED) return Ended(mountpoint);  // over io_uring (SEMANTICS.md, L16)
  if (error == EACCES) {
    return {Code::kPermission,
            Printable(mountpoint) + ": this user may not look into it: run augurctl as the user who mounted it"};
  }
  return ErrnoStatus(error, Printable(mountpoint));
}

// Whose the mount is that `root` is the root folder of.
Result<uid_t> OwnerOf(int root) {
  struct statx info {};
  constexpr int kFlags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
  if (statx(root, "", kFlags, 0, &info) != 0) return ErrnoStatus(errno, "statx");
  const std::string device = std::to_string(info.stx_dev_major) + ":" + std::to_string(info.stx_dev_minor);
  AUGUR_TRY_ASSIGN(rows, ReadMountTable());
  for (const MountRow& row : rows) {
    if (row.device == device && row.type == kAugurfsType) return static_cast<uid_t>(row.user);
  }
  return Status(Code::kNotFound, "no AugurFS mount in /proc/self/mountinfo is of this device (" + device + ")");
}

// The owner's number, a blank, and the path of the socket.
Result<std::string> ReadControlFile(const std::string& mountpoint) {
  const MountLook look = MountOf(mountpoint);
  if (!look.root.valid()) return look.error == 0 ? NotOurs(mountpoint) : Explain(look.error, mountpoint);
  const UniqueFd folder(openat(look.root.get(), ".augur", O_PATH | O_CLOEXEC | O_DIRECTORY));
  if (!folder.valid() && (errno == ENOENT || errno == ENOTDIR)) return NotOurs(mountpoint);
  if (!folder.valid()) return Explain(errno, mountpoint);
  const UniqueFd file(openat(folder.get(), kControlFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  // The daemon that gave the name may be another one than that which opens it, and does not know it.
  if (!file.valid() && errno == ENOENT) {
    return Status(Code::kStopped, Printable(mountpoint) + ": the daemon has no control socket: its log says why");
  }
  if (!file.valid()) return Explain(errno, mountpoint);
  std::array<char, PATH_MAX> text{};
  const ssize_t bytes = read(file.get(), text.data(), text.size());
  if (bytes < 0) return errno == ENOENT ? Ended(mountpoint) : Explain(errno, mountpoint);
  std::string path(text.data(), static_cast<size_t>(bytes));
  if (!path.starts_with('/') || !path.ends_with('\n')) return NotOurs(mountpoint);
  path.pop_back();
  const Result<uid_t> owner = OwnerOf(look.root.get());
  if (!owner.ok()) return owner.status().In(Printable(mountpoint));
  return std::to_string(*owner) + " " + path;
}

}  // namespace

Result<ControlAddress> FindDaemon(const std::string& mountpoint) {
  // The next daemon does not know what the one before it has looked up or opened. The look itself may take long, on a
  // busy machine, and is then the likelier to fall between two daemons.
  std::optional<std::chrono::steady_clock::time_point> end;
  Result<std::string> found = Status(Code::kStopped, "");
  while (true) {
    found = InChild([&] { return ReadControlFile(mountpoint); }, kSilentMax);
    if (found.status().code() != Code::kStopped) break;
    const auto now = std::chrono::steady_clock::now();
    if (!end) end = now + kNextWithin;
    if (now >= *end) return Status(Code::kNotFound, found.status().text());
    std::this_thread::sleep_for(kNextPause);
  }
  if (found.status().code() == Code::kBusy) return SilentDaemon().In(Printable(mountpoint));
  if (!found.ok()) return found.status();
  const size_t blank = found->find(' ');
  AUGUR_TRY_ASSIGN(owner, ParseCount(std::string_view(*found).substr(0, blank)));
  return ControlAddress{.path = found->substr(blank + 1), .owner = static_cast<uid_t>(owner)};
}

Result<ControlAnswer> AskMount(const std::string& mountpoint, const nlohmann::json& request) {
  // A daemon that hands over closes its socket first. Then it answers the reads that it has taken, which a slow disk
  // makes wait.
  constexpr std::chrono::seconds kFollowedWithin = kSilentMax;
  std::optional<std::chrono::steady_clock::time_point> end;
  while (true) {
    // Waits, while there is no daemon, for the next one.
    AUGUR_TRY_ASSIGN(address, FindDaemon(mountpoint));
    Result<ControlAnswer> answer = AskDaemon(address, request, nullptr, /*soon=*/true);
    if (answer.ok()) return answer;
    const bool has_ended = answer.status().code() == Code::kNotFound || IsCut(answer.status());
    const auto now = std::chrono::steady_clock::now();
    if (!end) end = now + kFollowedWithin;
    if (!has_ended || now >= *end) return answer.status().In(Printable(mountpoint));
    std::this_thread::sleep_for(kNextPause);
  }
}

}  // namespace augur
