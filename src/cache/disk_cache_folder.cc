// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "base/units.h"
#include "cache/disk_cache_file.h"

namespace augur {
namespace {

constexpr size_t kIdDigits = 16;
constexpr uint64_t kStatBlockBytes = 512;  // of stat::st_blocks, whatever the file system

bool IsSegmentName(std::string_view name) {
  const std::string_view prefix = DiskCacheFolder::kPrefix;
  if (!name.starts_with(prefix) || name.size() != prefix.size() + kIdDigits) return false;
  return name.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

int64_t Nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

}  // namespace

Result<DiskCacheFolder> DiskCacheFolder::Open(const std::string& path) {
  DiskCacheFolder folder;
  folder.path_ = path;
  constexpr mode_t kMode = 0700;
  if (::mkdir(path.c_str(), kMode) != 0 && errno != EEXIST) {
    const int error = errno;
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {  // not there, and cannot be made
      return ErrnoStatus(error, path + ": cannot make the folder for cached files").In("make it, or name another one");
    }
  }
  folder.fd_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!folder.fd_.valid()) {
    const int error = errno;
    if (::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) {
      return Status(Code::kPermission, path + ": is a symbolic link: not used: name the folder itself");
    }
    if (error == ENOTDIR) return Status(Code::kInvalid, path + ": is not a folder: name another one");
    return ErrnoStatus(error, path);
  }
  if (::fstat(folder.fd_.get(), &info) != 0) return ErrnoStatus(errno, path);
  AUGUR_TRY(CheckDiskCacheOwner(info, path));
  if (::faccessat(folder.fd_.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) folder.writable_ = ErrnoStatus(errno, path);
  return folder;
}

Result<DiskCacheFolder::Room> DiskCacheFolder::RoomOf(const std::string& path) {
  const std::filesystem::path folder(path);
  std::error_code error;
  std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (error) space = std::filesystem::space(folder.parent_path(), error);
  if (error) {
    const Status status = ErrnoStatus(error.value(), Printable(path));
    return Status(status.code(), status.text() + (error.value() == ENOENT ? ": make its folder first" : ""));
  }
  Room room{.held = 0, .available = space.available, .total = space.capacity};
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    if (!IsSegmentName(file.path().filename().string())) continue;
    struct stat info {};
    if (::lstat(file.path().c_str(), &info) == 0) room.held += static_cast<uint64_t>(info.st_blocks) * kStatBlockBytes;
  }
  return room;
}

std::string DiskCacheFolder::NameOf(uint64_t id) {
  std::string digits(kIdDigits, '0');
  for (size_t at = digits.size(); at-- > 0; id >>= 4) digits[at] = "0123456789abcdef"[id & 15];
  return kPrefix + digits;
}

Result<std::vector<DiskCacheFolder::Segment>> DiskCacheFolder::List() const {
  std::vector<Segment> segments;
  // Opened anew: a second descriptor of fd_ would share its position.
  UniqueFd again(::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again.valid()) return ErrnoStatus(errno, path_);
  const std::unique_ptr<DIR, int (*)(DIR*)> names(::fdopendir(again.get()), ::closedir);
  if (!names) return ErrnoStatus(errno, path_);
  again.Release();
  while (const dirent* name = ::readdir(names.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
    struct stat info {};
    if (!IsSegmentName(name->d_name)) continue;
    if (::fstatat(fd_.get(), name->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;  // removed just now
    segments.push_back({.name = name->d_name,
                        .inode = info.st_ino,
                        .bytes = S_ISREG(info.st_mode) ? static_cast<uint64_t>(info.st_size) : 0,
                        .modified_ns = Nanoseconds(info.st_mtim),
                        .changed_ns = Nanoseconds(info.st_ctim)});
  }
  return segments;
}

uint64_t DiskCacheFolder::BytesOf(const std::vector<Segment>& segments) {
  uint64_t total = 0;
  for (const Segment& segment : segments) total += segment.bytes;
  return total;
}

// flock on the folder itself: no file that could be missing, and each open() has its own, as with the locks of
// segments.
DiskCacheFolder::Lock::Lock(const DiskCacheFolder& folder) : fd_(folder.fd()) {
  constexpr int kTries = 1000;
  for (int tries = 0; ::flock(fd_, LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      status_ = ErrnoStatus(errno, folder.path() + ": cannot be locked");
      return;
    }
    if (tries == kTries) {
      status_ = Status(Code::kBusy, folder.path() + ": another daemon has had it locked for a second");
      return;
    }
    const timespec nap = {.tv_sec = 0, .tv_nsec = 1'000'000};
    ::nanosleep(&nap, nullptr);
  }
}

DiskCacheFolder::Lock::~Lock() {
  if (status_.ok()) ::flock(fd_, LOCK_UN);
}

bool DiskCacheFolder::RemoveIf(const Segment& segment, bool unborn) const {
  const Result<UniqueFd> fd = OpenDiskCacheFile(fd_.get(), path_, segment.name, O_RDWR);
  if (!fd.ok()) return false;
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0 || info.st_ino != segment.inode) return false;
  const Result<DiskCacheHeader> header = ReadDiskCacheHeader(fd->get(), segment.name);
  if (unborn ? header.status().code() != Code::kBusy : !header.ok()) return false;
  static_assert(kDiskCacheUserByte == kDiskCacheWriterByte + 1);
  if (!LockDiskCacheBytes(fd->get(), F_WRLCK, kDiskCacheWriterByte, 2)) return false;
  return ::unlinkat(fd_.get(), segment.name.c_str(), 0) == 0;
}

bool DiskCacheFolder::Remove(const Segment& segment) const { return RemoveIf(segment, false); }
bool DiskCacheFolder::RemoveUnborn(const Segment& segment) const { return RemoveIf(segment, true); }

}  // namespace augur
