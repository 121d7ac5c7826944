// SPDX-License-Identifier: Apache-2.0
#include "store/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <span>
#include <string_view>
#include <utility>

#include "base/file_lock.h"
#include "base/units.h"
#include "store/file_io.h"

namespace augur {
namespace {

std::string Holder(const std::string& writer) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  std::array<char, 32> time{};
  if (::gmtime_r(&now, &utc) != nullptr) std::strftime(time.data(), time.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return writer + ", process " + std::to_string(::getpid()) + " on host " + host.data() + " since " + time.data() +
         "\n";
}

std::string ReadBeginning(int fd) {
  std::array<char, 512> text{};
  const ssize_t bytes = ::pread(fd, text.data(), text.size(), 0);
  return {text.data(), bytes > 0 ? static_cast<size_t>(bytes) : 0};
}

// Whether the text of a file of that name is one that Holder makes.
bool IsHolder(std::string_view text) {
  size_t at = 0;
  for (const std::string_view word : {", process ", " on host ", " since "}) {
    at = text.find(word, at);
    if (at == std::string_view::npos) return false;
  }
  return text.find('\n', at) == text.size() - 1;
}

// What the holder wrote into its lock file, for a message.
std::string ReadHolder(int fd) {
  std::string holder = ReadBeginning(fd);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder.empty() ? "a writer that left no name" : Printable(holder);
}

// True when the name still names the file that `fd` has open. A holder may unlink the file before it lets go of it; a
// lock on a file without a name protects nothing.
bool SameFile(const WriteFolder& folder, int fd) {
  struct stat by_name {};
  struct stat by_fd {};
  return ::fstatat(folder.fd(), kLockName, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(fd, &by_fd) == 0 &&
         by_name.st_ino == by_fd.st_ino && by_name.st_dev == by_fd.st_dev;
}

// A lock file is written to, so it must be no other file's second name. An invalid descriptor: its holder has removed
// it just now.
Result<UniqueFd> OpenLock(const WriteFolder& folder) {
  Result<UniqueFd> made = folder.MakeFile(kLockName, 0644);
  if (made.ok() || made.status().code() != Code::kExists) return made;
  Result<UniqueFd> fd = folder.OpenFile(kLockName, O_RDWR);
  if (fd.status().code() == Code::kNotFound) return UniqueFd();
  if (!fd.ok()) return fd;
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return ErrnoStatus(errno, folder.PathOf(kLockName));
  if (info.st_nlink > 1) {
    return Status(Code::kInvalid, folder.PathOf(kLockName) + ": the file has another name, too: remove this one");
  }
  return fd;
}

}  // namespace

bool StoreLock::IsOfOthers(const WriteFolder& folder) {
  const Result<UniqueFd> fd = folder.OpenFile(kLockName, O_RDONLY);
  if (!fd.ok()) return false;
  const std::string text = ReadBeginning(fd->get());
  return !text.empty() && !IsHolder(text);
}

Result<StoreLock> StoreLock::Take(const WriteFolder& folder, const std::string& writer) {
  const std::string path = folder.PathOf(kLockName);
  for (;;) {
    AUGUR_TRY_ASSIGN(fd, OpenLock(folder));
    if (!fd.valid()) continue;
    const int error = LockFile(fd.get(), LOCK_EX | LOCK_NB);
    if (error == EWOULDBLOCK) {
      return Status(Code::kBusy, folder.path() + ": another writer is at work: " + ReadHolder(fd.get()) +
                                     ": wait until it has ended, or stop it");
    }
    if (error != 0) {
      return ErrnoStatus(error,
                         path +
                             ": cannot lock: a store can only be written where flock(2) works: pack into a folder "
                             "of another file system, and copy the folder here");
    }
    if (!SameFile(folder, fd.get())) continue;
    const std::string text = Holder(writer);
    if (::ftruncate(fd.get(), 0) != 0) return ErrnoStatus(errno, path);
    AUGUR_TRY(WriteAt(fd.get(), path, std::as_bytes(std::span(text)), 0));
    return StoreLock(folder, std::move(fd));
  }
}

void StoreLock::Unlink() {
  if (fd_.valid()) (void)folder_->Remove(kLockName);
}

}  // namespace augur
