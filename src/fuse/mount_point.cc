// SPDX-License-Identifier: Apache-2.0
#include "fuse/mount_point.h"

#include <dirent.h>
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "base/mount_table.h"
#include "base/trusted_path.h"
#include "base/units.h"
#include "fuse/dead_mount.h"
#include "fuse/fusermount.h"
#include "fuse/mount_device.h"
#include "fuse/mount_refusal.h"
#include "fuse/mount_root.h"

namespace augur {
namespace {

constexpr unsigned long kNoSymFollow = 256;  // MS_NOSYMFOLLOW of Linux 5.10; the C library has no name for it
constexpr const char* kDevice = "/dev/fuse";

Result<std::string> RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  if (real == nullptr) return ErrnoStatus(errno, Printable(path));
  return std::string(real.get());
}

// The absolute path of a mount point, found without looking at the point itself: it may be a dead mount, on which every
// call fails. A symbolic link in the last place is therefore not followed.
Result<std::string> PathWithoutTouching(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") return RealPath(path);
  AUGUR_TRY_ASSIGN(real_parent, RealPath(parent));
  return real_parent == "/" ? "/" + name : real_parent + "/" + name;
}

Status Detach(const std::string& path) {
  if (geteuid() != 0) return UnmountByFusermount(path, /*lazy=*/true);
  if (umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0) return ErrnoStatus(errno, "umount");
  return Status::Ok();
}

// Makes a folder the working one for as long as this lives, so that a name in it is found whatever becomes of its path.
class WorkingFolder {
 public:
  explicit WorkingFolder(int folder) : before_(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    if (before_.valid() && fchdir(folder) != 0) before_.Reset();
  }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;
  ~WorkingFolder() {
    if (before_.valid()) (void)!fchdir(before_.get());
  }
  // Else errno says why.
  bool is_there() const { return before_.valid(); }

 private:
  UniqueFd before_;
};

bool HasOption(std::string_view options, std::string_view word) {
  return ("," + std::string(options) + ",").find("," + std::string(word) + ",") != std::string::npos;
}

// Whether the mount is an overlay over one of ours, as -o writable= makes it.
bool LiesOverAugurfs(const std::vector<MountRow>& rows, const MountRow& overlay) {
  return overlay.type == "overlay" && std::ranges::any_of(rows, [&](const MountRow& row) {
           return row.type == kAugurfsType && HasOption(overlay.file_system_options, "lowerdir=" + row.mount_point);
         });
}

// What is mounted at `path` already: nothing that matters, or the reason why we cannot mount there. A dead mount of
// ours is taken away; several may lie on top of each other.
Status ClearTheDead(const std::string& path) {
  constexpr int kStackedMax = 64;  // far more than anybody has; ends the loop if detaching has no effect
  for (int i = 0; i < kStackedMax; ++i) {
    AUGUR_TRY_ASSIGN(rows, ReadMountTable());
    const MountRow* mounted = TopmostMount(rows, path);
    if (mounted == nullptr) return Status::Ok();
    const bool dead = IsDead(*mounted);
    if (!dead && (mounted->type == kAugurfsType || LiesOverAugurfs(rows, *mounted))) {
      return {Code::kExists, Printable(path) + ": an AugurFS is mounted here already, of " +
                                 Printable(mounted->source) + ": unmount it first (" +
                                 (geteuid() == 0 ? "umount" : "fusermount3 -u") + "), or choose another folder"};
    }
    if (!dead) return Status::Ok();
    if (mounted->type != kAugurfsType) {
      return {Code::kBusy, Printable(path) + ": a mount of type " + mounted->type +
                               " whose program has died is in the way: remove it with fusermount3 -u or umount"};
    }
    AUGUR_TRY(Detach(path).In(Printable(path) + ": clearing the mount of a daemon that died"));
    spdlog::warn("{}: cleared the mount point of an augurfs that had died (store {})", Printable(path),
                 Printable(mounted->source));
  }
  return {Code::kBusy, Printable(path) + ": another program mounts here again and again, and dies: end it"};
}

// OK when `fd` is a descriptor of /dev/fuse.
Status CheckHandedDown(int fd, const std::string& path) {
  struct stat handed {};
  struct stat device {};
  if (fstat(fd, &handed) != 0) return ErrnoStatus(errno, path + ": no such descriptor was handed down");
  const bool is_fuse = S_ISCHR(handed.st_mode) && (stat(kDevice, &device) != 0 || handed.st_rdev == device.st_rdev);
  if (!is_fuse) return {Code::kInvalid, path + ": the descriptor is not one of /dev/fuse"};
  return Status::Ok();
}

// What to do about a mount point that cannot be found.
std::string PointCure(const std::string& path) {
  if (access(path.c_str(), F_OK) == 0 || errno != ENOENT) return "";
  struct stat attributes {};
  const bool link = lstat(path.c_str(), &attributes) == 0 && S_ISLNK(attributes.st_mode);
  return link ? ": the symbolic link leads nowhere: make its target, or remove it" : ": make it with mkdir -p";
}

bool IsEmptyFolder(int folder_fd) {
  UniqueFd fd(openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> names(fd.valid() ? fdopendir(fd.get()) : nullptr, &closedir);
  if (names == nullptr) return true;  // what cannot be listed holds nothing that anybody will miss
  fd.Release();
  while (const dirent* entry = readdir(names.get())) {  // NOLINT(concurrency-mt-unsafe): our own DIR
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return false;
  }
  return true;
}

// A mount hides what its folder holds: the store itself must not be hidden, and anything else is told.
Status CheckPlace(int folder_fd, const std::string& path, const std::string& store) {
  struct stat point {};
  struct stat source {};
  if (fstat(folder_fd, &point) == 0 && stat(store.c_str(), &source) == 0 && point.st_dev == source.st_dev &&
      point.st_ino == source.st_ino) {
    return {Code::kInvalid, Printable(path) + ": is the store itself: mount it on another folder, an empty one"};
  }
  if (!IsEmptyFolder(folder_fd)) {
    spdlog::warn("{}: the folder is not empty; the mount hides its files until it is unmounted", Printable(path));
  }
  return Status::Ok();
}

}  // namespace

int MountPoint::HandedDownFd(const std::string& path) {
  constexpr std::string_view kPrefix = "/dev/fd/";
  if (!path.starts_with(kPrefix)) return -1;
  const Result<uint64_t> number = ParseCount(std::string_view(path).substr(kPrefix.size()));
  return number.ok() && *number <= INT_MAX ? static_cast<int>(*number) : -1;
}

MountPoint MountPoint::Made(const MountRequest& request) {
  MountPoint point;
  point.request_ = request;
  point.path_ = request.path;
  point.handed_down_ = HandedDownFd(request.path) >= 0;
  return point;
}

Result<MountPoint> MountPoint::Check(const MountRequest& request) {
  MountPoint point;
  point.request_ = request;
  if (const int fd = HandedDownFd(request.path); fd >= 0) {
    AUGUR_TRY(CheckHandedDown(fd, request.path));
    point.path_ = request.path;
    point.device_.Reset(fd);
    point.handed_down_ = true;
    if (request.nosymfollow) {
      return Status(Code::kUnsupported, request.path +
                                            ": nosymfollow is for the program that mounts: give it to that program, "
                                            "and not to augurfs");
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return point;
  }

  // The first answer is only about links: a dead mount may be in the way yet.
  if (const Status links = OpenTrustedFolder(request.path, MissingFolders::kFail).status();
      links.code() == Code::kPermission) {
    // A mount of another user refuses root, too: a live one is what is in the way, and a dead one goes.
    const Result<std::string> place = PathWithoutTouching(request.path);
    if (place.ok()) AUGUR_TRY(ClearTheDead(*place));
    const Status again = OpenTrustedFolder(request.path, MissingFolders::kFail).status();
    if (again.code() == Code::kPermission) return again;
  }
  Result<std::string> path = PathWithoutTouching(request.path);
  if (path.ok()) {
    AUGUR_TRY(ClearTheDead(*path));
    struct stat attributes {};
    if (lstat(path->c_str(), &attributes) == 0 && S_ISLNK(attributes.st_mode)) {
      path = RealPath(*path);
      if (path.ok()) AUGUR_TRY(ClearTheDead(*path));
    }
  }
  if (!path.ok()) return Status(path.status().code(), path.status().text() + PointCure(request.path));
  struct stat attributes {};
  if (stat(path->c_str(), &attributes) != 0) {
    const int error = errno;
    const Status status = ErrnoStatus(error, Printable(*path));
    return Status(status.code(), status.text() + PointCure(*path));
  }
  if (!S_ISDIR(attributes.st_mode)) {
    return Status(Code::kInvalid, Printable(*path) + ": not a folder, and only a folder can be a mount point");
  }
  point.path_ = std::move(path).value();
  AUGUR_TRY(point.TakeFolder());
  AUGUR_TRY(CheckPlace(point.folder_.get(), point.path_, request.source));
  return point;
}

Status MountPoint::TakeFolder() {
  AUGUR_TRY_ASSIGN(folder, OpenTrustedFolder(request_.path, MissingFolders::kFail));
  struct stat opened {};
  struct stat named {};
  if (fstat(folder.get(), &opened) != 0 || stat(path_.c_str(), &named) != 0) {
    return ErrnoStatus(errno, Printable(path_));
  }
  if (opened.st_dev != named.st_dev || opened.st_ino != named.st_ino) {
    return {Code::kChanged, Printable(path_) + ": was replaced meanwhile: mount again"};
  }
  folder_ = std::move(folder);
  return Status::Ok();
}

Status MountPoint::Mount() {
  if (handed_down_) return Status::Ok();
  AUGUR_CHECK(!is_made_);
  AUGUR_TRY(geteuid() == 0 ? MountAsRoot() : MountAsUser());
  is_made_ = true;
  folder_.Reset();
  const Result<std::vector<MountRow>> rows = ReadMountTable();
  if (rows.ok()) {
    const MountRow* mounted = TopmostMount(*rows, path_);
    if (mounted != nullptr && mounted->type == kAugurfsType) device_number_ = mounted->device;
    const bool obeyed = mounted == nullptr || HasOption(mounted->options, "nosymfollow");
    if (request_.nosymfollow && !obeyed) {
      const Status unmounted = Unmount().status();
      if (!unmounted.ok()) spdlog::error("{}", unmounted.text());
      return {Code::kUnsupported,
              Printable(path_) + ": nosymfollow: this kernel does not know it (Linux 5.10 does): leave it out"};
    }
  }
  return Status::Ok();
}

Status MountPoint::MountAsRoot() {
  UniqueFd device(open(kDevice, O_RDWR | O_CLOEXEC));
  if (!device.valid()) return DeviceRefusal(errno);
  std::string data = "fd=" + std::to_string(device.get()) +
                     ",rootmode=40000,user_id=" + std::to_string(request_.owner) +
                     ",group_id=" + std::to_string(request_.owner_group) + ",default_permissions";
  if (request_.allow_other) data += ",allow_other";
  const unsigned long flags =
      MS_RDONLY | MS_NOSUID | MS_NODEV | (request_.noexec ? MS_NOEXEC : 0) | (request_.nosymfollow ? kNoSymFollow : 0);
  // By its descriptor, so that no user leads root elsewhere by exchanging a part of the path now.
  const WorkingFolder point(folder_.get());
  if (!point.is_there()) return ErrnoStatus(errno, Printable(path_));
  if (mount(request_.source.c_str(), ".", kAugurfsType.data(), flags, data.c_str()) != 0) {
    return MountRefusal(errno, path_);
  }
  device_ = std::move(device);
  return Status::Ok();
}

Status MountPoint::MountAsUser() {
  std::string options =
      "ro,nosuid,nodev,default_permissions,subtype=augurfs,fsname=" + EscapeMountOption(request_.source);
  if (request_.allow_other) options += ",allow_other";
  if (request_.noexec) options += ",noexec";
  if (request_.nosymfollow) options += ",nosymfollow";
  Result<UniqueFd> device = MountByFusermount(path_, options);
  if (!device.ok()) {
    const bool refused = device.status().code() == Code::kPermission;
    return {device.status().code(),
            Printable(path_) + ": " + device.status().text() +
                (refused ? UserCure(request_.nosymfollow, device.status().text(), path_) : std::string())};
  }
  device_ = std::move(device).value();
  return Status::Ok();
}

Result<bool> MountPoint::Unmount() const {
  if (handed_down_) return false;
  AUGUR_TRY_ASSIGN(rows, ReadMountTable());
  const MountRow* mounted = TopmostMount(rows, path_);
  // It was unmounted already, or mounted over: the mount that is there now is not ours to take away.
  if (mounted == nullptr || mounted->type != kAugurfsType || mounted->device != device_number_) return false;
  return geteuid() == 0 ? UnmountAsRoot() : UnmountAsUser();
}

// From the folder around the mount, and after another look: the path may be exchanged at any moment, but not a name
// that is mounted on.
Result<bool> MountPoint::UnmountAsRoot() const {
  const size_t slash = path_.rfind('/');
  const std::string name = slash + 1 == path_.size() ? "/" : path_.substr(slash + 1);
  const UniqueFd around(open(path_.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!around.valid()) return ErrnoStatus(errno, Printable(path_) + ": umount");
  const WorkingFolder working(around.get());
  if (!working.is_there()) return ErrnoStatus(errno, Printable(path_) + ": umount");
  const std::optional<MountDevice> device = ParseMountDevice(device_number_);
  UniqueFd root(open(name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!root.valid() || !device || !LiesOn(root.get(), *device)) return false;
  root.Reset();  // it would be in use
  if (umount2(name.c_str(), UMOUNT_NOFOLLOW) == 0) return false;
  if (errno == EBUSY && umount2(name.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) return true;
  return ErrnoStatus(errno, Printable(path_) + ": umount");
}

Result<bool> MountPoint::UnmountAsUser() const {
  if (UnmountByFusermount(path_, /*lazy=*/false).ok()) return false;
  AUGUR_TRY(UnmountByFusermount(path_, /*lazy=*/true).In(Printable(path_) + ": umount"));
  return true;
}

}  // namespace augur
