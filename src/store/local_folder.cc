// SPDX-License-Identifier: Apache-2.0
#include "store/local_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "base/file_lock.h"
#include "base/limited_log.h"
#include "base/network_file_system.h"
#include "base/regular_file.h"
#include "base/units.h"
#include "store/format.h"
#include "store/hash.h"

namespace augur {
namespace {

// Opens the index and locks it. An invalid descriptor: it has been removed. kBusy: a program is removing it.
Result<UniqueFd> OpenAndLock(int folder_fd, const std::string& name) {
  Result<UniqueFd> opened = OpenRegularAt(folder_fd, name, O_RDONLY, Links::kFollow, name);
  if (!opened.ok()) {
    if (opened.status().code() == Code::kNotFound) return UniqueFd();
    return opened.status();
  }
  UniqueFd fd = std::move(opened).value();
  // A file system without locks has no collector that respects them either: then we go on without one.
  if (LockFile(fd.get(), LOCK_SH | LOCK_NB) == EWOULDBLOCK) {
    return Status(Code::kBusy, name + ": locked by a program that removes old generations: try again");
  }
  // It may have been removed between open and lock; then the lock protects nothing.
  struct stat stat {};
  if (::fstatat(folder_fd, name.c_str(), &stat, 0) != 0 && errno == ENOENT) return UniqueFd();
  return fd;
}

// nullptr: the index is not there.
Result<LocalFolder::HandlesRef> OpenHandles(const std::string& path, UniqueFd folder_fd, const std::string& name) {
  AUGUR_TRY_ASSIGN(fd, OpenAndLock(folder_fd.get(), name));
  if (!fd.valid()) return LocalFolder::HandlesRef();
  AUGUR_TRY_ASSIGN(rights, ShardRights::Make(folder_fd.get(), path, fd.get(), name, ForeignFolders()));
  AUGUR_TRY_ASSIGN(index, LocalFile::Of(std::move(fd), name));
  return LocalFolder::HandlesRef(
      new LocalFolder::Handles{.fd = std::move(folder_fd), .index = std::move(index), .rights = std::move(rights)});
}

// By which an index is known again: its header has its id, and the checksums of all else.
Result<Hash128> HashOfHeader(const LocalFile& index) {
  std::vector<std::byte> header(std::min<uint64_t>(index.bytes(), format::kBodyOffset));
  AUGUR_TRY(index.ReadAt(header, 0));
  return HashBytes128(header);
}

}  // namespace

Result<std::unique_ptr<LocalFolder>> LocalFolder::Open(std::string path, UniqueFd fd, std::string index_name) {
  AUGUR_TRY_ASSIGN(handles, OpenHandles(path, std::move(fd), index_name));
  if (handles == nullptr) return std::unique_ptr<LocalFolder>();
  AUGUR_TRY_ASSIGN(header, HashOfHeader(*handles->index));
  return std::unique_ptr<LocalFolder>(
      new LocalFolder(std::move(path), std::move(index_name), std::move(handles), header));
}

LocalFolder::HandlesRef LocalFolder::handles() const {
  const MutexLock lock(mu_);
  return handles_;
}

bool LocalFolder::IsLost(const Handles& handles) {
  struct statx info {};
  return ::statx(handles.fd.get(), "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_TYPE, &info) != 0 &&
         IsLostHandle(errno, /*network=*/true);
}

Result<LocalFolder::HandlesRef> LocalFolder::OpenAgain() const {
  UniqueFd fd(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "the store's folder");
  AUGUR_TRY_ASSIGN(opened, OpenHandles(path_, std::move(fd), index_name_));
  if (opened == nullptr) {
    return Status(Code::kCorrupt, index_name_ + ": it is gone: mount the store anew");
  }
  AUGUR_TRY_ASSIGN(header, HashOfHeader(*opened->index));
  if (header != header_) {
    return Status(Code::kCorrupt, index_name_ + ": another index has its name now: mount the store anew");
  }
  return opened;
}

Result<LocalFolder::HandlesRef> LocalFolder::Reopen(const HandlesRef& lost) const {
  const MutexLock reopen_lock(reopen_mu_);
  if (HandlesRef since = handles(); since != lost) return since;
  Result<HandlesRef> opened = OpenAgain();
  if (!opened.ok()) return opened.status().In(path_ + ": cannot be opened anew");
  LogLimited(spdlog::level::warn, "store folder", path_,
             path_ + ": the file system had lost the open folder and index: both were opened anew");
  const MutexLock lock(mu_);
  handles_ = *opened;
  return opened;
}

}  // namespace augur
