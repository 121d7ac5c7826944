// SPDX-License-Identifier: Apache-2.0
#include "recorded_runs/replay_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <memory>
#include <random>
#include <span>
#include <tuple>
#include <utility>

#include "base/trusted_path.h"
#include "store/file_io.h"
#include "store/hash.h"

namespace augur {
namespace {

constexpr std::string_view kPrefix = "run-";
constexpr std::string_view kTemporaryPrefix = "new-";
constexpr size_t kRunNameBytes = kPrefix.size() + 32;
// A writer makes its file and then locks it, and writes for seconds. One that is older and not locked has no writer.
constexpr int64_t kDebrisSeconds = 60;

std::string UniqueName(std::string_view prefix) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::random_device random;
  const uint64_t chance = (uint64_t{random()} << 32) | random();
  return std::string(prefix) + HexOf(static_cast<uint64_t>(now.count())) + HexOf(chance);
}

bool IsName(std::string_view name, std::string_view prefix) {
  return name.size() == kRunNameBytes && name.starts_with(prefix) &&
         name.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

// The time that the kernel gives by itself is that of its last tick, the same for all files of some milliseconds.
bool SetTimeToNow(int fd) {
  timespec now{};
  if (::clock_gettime(CLOCK_REALTIME, &now) != 0) return false;
  const std::array<timespec, 2> times = {now, now};
  return ::futimens(fd, times.data()) == 0;
}

Status NotThere(std::string_view name) { return {Code::kNotFound, std::string(name) + ": no such recorded run"}; }

}  // namespace

Result<ReplayFolder> ReplayFolder::Open(const std::string& path) {
  const size_t slash = path.rfind('/');
  AUGUR_TRY_ASSIGN(parent, OpenTrustedFolder(path.substr(0, slash + 1), MissingFolders::kMake));
  const std::string name = path.substr(slash + 1);
  if (::mkdirat(parent.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
    const int error = errno;
    struct stat there {};
    if (::fstatat(parent.get(), name.c_str(), &there, 0) != 0) return ErrnoStatus(error, path);  // else read-only
  }
  UniqueFd fd(::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, path);
  if (info.st_uid != ::geteuid()) {
    return Status(Code::kPermission, path + ": belongs to another user: orders of runs are not kept there");
  }
  if ((info.st_mode & 022) != 0) {
    return Status(Code::kPermission, path + ": others may write to it: chmod go-w it to have orders of runs kept");
  }
  ReplayFolder folder(path, std::move(fd));
  folder.RemoveDebris();
  return folder;
}

Status ReplayFolder::ForEachName(const std::function<void(const std::string&)>& take) const {
  UniqueFd fd(::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, path_);
  const auto close = [](DIR* dir) { ::closedir(dir); };
  const std::unique_ptr<DIR, decltype(close)> dir(::fdopendir(fd.get()), close);
  if (dir == nullptr) return ErrnoStatus(errno, path_);
  fd.Release();
  // readdir is safe: no other thread has this DIR.
  for (const dirent* entry = ::readdir(dir.get()); entry != nullptr;  // NOLINT(concurrency-mt-unsafe)
       entry = ::readdir(dir.get())) {                                // NOLINT(concurrency-mt-unsafe)
    take(entry->d_name);
  }
  return Status::Ok();
}

void ReplayFolder::RemoveDebris() const {
  const Status status = ForEachName([this](const std::string& name) {
    if (!IsName(name, kTemporaryPrefix)) return;
    const UniqueFd fd(::openat(fd_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (!fd.valid() || ::fstat(fd.get(), &info) != 0) return;
    if (std::time(nullptr) - info.st_mtime < kDebrisSeconds) return;
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) ::unlinkat(fd_.get(), name.c_str(), 0);
  });
  static_cast<void>(status);  // what cannot be listed cannot be cleaned; whoever lists it is told
}

Result<std::vector<ReplayFolder::File>> ReplayFolder::List() const {
  std::vector<File> files;
  AUGUR_TRY(ForEachName([&](const std::string& name) {
    struct stat info {};
    if (!IsName(name, kPrefix) || ::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (!S_ISREG(info.st_mode)) return;
    files.push_back({.name = name,
                     .bytes = static_cast<uint64_t>(info.st_size),
                     .time_sec = info.st_mtim.tv_sec,
                     .time_nsec = info.st_mtim.tv_nsec});
  }));
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return std::tie(a.time_sec, a.time_nsec, a.name) > std::tie(b.time_sec, b.time_nsec, b.name);
  });
  return files;
}

std::string ReplayFolder::NewName() { return UniqueName(kPrefix); }

Result<UniqueFd> ReplayFolder::OpenFile(std::string_view name) const {
  if (!IsName(name, kPrefix)) return NotThere(name);
  // O_NONBLOCK: a fifo of this name must not make us wait.
  UniqueFd fd(::openat(fd_.get(), std::string(name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENOENT || errno == ELOOP) return NotThere(name);
    return ErrnoStatus(errno, path_ + "/" + std::string(name));
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, path_ + "/" + std::string(name));
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) return NotThere(name);
  return fd;
}

Status ReplayFolder::Write(std::string_view name, std::string_view bytes) const {
  if (!IsName(name, kPrefix)) return {Code::kInvalid, std::string(name) + ": not a name of a recorded run"};
  const std::string temporary = UniqueName(kTemporaryPrefix);
  const std::string path = path_ + "/" + temporary;
  const UniqueFd fd(::openat(fd_.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  ::flock(fd.get(), LOCK_EX | LOCK_NB);  // see RemoveDebris; without locks its patience must do
  Status status = WriteAt(fd.get(), path, std::as_bytes(std::span(bytes)), 0);
  if (status.ok() && !SetTimeToNow(fd.get())) status = ErrnoStatus(errno, path);
  if (status.ok()) status = SyncFile(fd.get(), path);
  if (status.ok() && ::renameat(fd_.get(), temporary.c_str(), fd_.get(), std::string(name).c_str()) != 0) {
    status = ErrnoStatus(errno, path);
  }
  if (!status.ok()) ::unlinkat(fd_.get(), temporary.c_str(), 0);
  return status;
}

Status ReplayFolder::Touch(std::string_view name) const {
  AUGUR_TRY_ASSIGN(fd, OpenFile(name));
  if (!SetTimeToNow(fd.get())) return ErrnoStatus(errno, path_ + "/" + std::string(name));
  return Status::Ok();
}

Status ReplayFolder::TouchFolder() const { return SetTimeToNow(fd_.get()) ? Status::Ok() : ErrnoStatus(errno, path_); }

Status ReplayFolder::Remove(std::string_view name) const {
  if (!IsName(name, kPrefix)) return NotThere(name);
  if (::unlinkat(fd_.get(), std::string(name).c_str(), 0) == 0 || errno == ENOENT) return Status::Ok();
  return ErrnoStatus(errno, path_ + "/" + std::string(name));
}

}  // namespace augur
