// SPDX-License-Identifier: Apache-2.0
#include "store/local_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/regular_file.h"
#include "base/units.h"
#include "store/local_shards.h"

namespace augur {
namespace {

enum class Lock { kTaken, kRefused };

// A file system without locks has no collector that respects them either: then we go on without one.
Lock LockShared(int fd) {
  while (::flock(fd, LOCK_SH | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Lock::kRefused;
    if (errno != EINTR) break;
  }
  return Lock::kTaken;
}

// Opens the index and locks it. An invalid descriptor: it has been removed. kBusy: somebody is removing it.
Result<UniqueFd> OpenAndLock(int folder_fd, const std::string& name) {
  Result<UniqueFd> opened = OpenRegularAt(folder_fd, name, O_RDONLY, Links::kFollow, name);
  if (!opened.ok()) {
    if (opened.status().code() == Code::kNotFound) return UniqueFd();
    return opened.status();
  }
  UniqueFd fd = std::move(opened).value();
  if (LockShared(fd.get()) == Lock::kRefused) {
    return Status(Code::kBusy, name + ": locked by a program that removes old generations: try again");
  }
  // It may have been removed between open and lock; then the lock protects nothing.
  struct stat stat {};
  if (::fstatat(folder_fd, name.c_str(), &stat, 0) != 0 && errno == ENOENT) return UniqueFd();
  return fd;
}

}  // namespace

Result<std::shared_ptr<const LocalFile>> LocalFiles::OpenLocalShard(const ShardInfo& info) const {
  if (std::shared_ptr<const LocalFile> opened = OpenedShard(info.number)) return opened;
  return shards_.Open(info);
}

Result<std::shared_ptr<const StoredFile>> LocalFiles::OpenShard(const ShardInfo& info) const {
  AUGUR_TRY_ASSIGN(file, OpenLocalShard(info));
  return std::shared_ptr<const StoredFile>(std::move(file));
}

Status LocalFiles::LookAtShard(const ShardInfo& info) const {
  const std::string shown = Printable(info.path);
  struct stat found {};
  if (::fstatat(info.absolute ? AT_FDCWD : folder_fd_.get(), info.locator.c_str(), &found, 0) != 0) {
    const int error = errno;
    if (error == EACCES) return Status::Ok();  // its folder may be closed to us, and open to the index's owner
    Status status = ErrnoStatus(error, shown);
    if (status.code() != Code::kNotFound) return status;
    return {Code::kNotFound, shown + ": the shard is missing: " + ShardCure(info)};
  }
  AUGUR_TRY(CheckRegular(found.st_mode, shown));
  const auto bytes = static_cast<uint64_t>(found.st_size);
  if (bytes == info.bytes) return Status::Ok();
  return {Code::kCorrupt, shown + ": the shard has " + std::to_string(bytes) + " bytes, the index says " +
                              std::to_string(info.bytes) + ": " + ShardCure(info)};
}

std::unique_ptr<ShardSource> LocalFiles::MakeSource(std::shared_ptr<const Store> store, ReadEngine& engine,
                                                    ReadPurpose /*purpose*/) const {
  return std::make_unique<LocalShards>(std::move(store), *this, engine);
}

Result<StorePlace::Opened> LocalPlace::Open(uint64_t generation) const {
  UniqueFd folder_fd(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd.valid()) return ErrnoStatus(errno, "cannot open the store's folder");
  AUGUR_TRY_ASSIGN(manifest, ReadManifestAt(folder_fd.get()));
  Opened opened{.manifest = std::move(manifest), .files = nullptr};
  const std::string name = IndexName(generation == 0 ? opened.manifest.generation : generation);
  AUGUR_TRY_ASSIGN(fd, OpenAndLock(folder_fd.get(), name));
  if (!fd.valid()) return opened;
  AUGUR_TRY_ASSIGN(place, PlaceOf(folder_fd.get(), fd.get()));
  AUGUR_TRY_ASSIGN(rights, ShardRights::Make(folder_fd.get(), folder_, fd.get(), name, ForeignFolders()));
  AUGUR_TRY_ASSIGN(index, LocalFile::Of(std::move(fd), name));
  opened.files =
      std::make_unique<LocalFiles>(std::move(folder_fd), std::move(index), place, std::move(rights), options_);
  return opened;
}

}  // namespace augur
