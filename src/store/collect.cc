// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "augur/store.h"
#include "augur/store_writer.h"
#include "base/file_lock.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "store/manifest.h"
#include "store/store_folder.h"
#include "store/store_lock.h"
#include "store/work_folder.h"
#include "store/write_folder.h"

namespace augur {
namespace {

// Adds the own shards that an index names.
Status AddShardNames(const std::string& path, uint64_t generation, std::set<std::string>& names) {
  AUGUR_TRY_ASSIGN(store, Store::Open(path, {.generation = generation}));
  for (uint32_t number = 0; number < store->summary().shard_count; ++number) {
    AUGUR_TRY_ASSIGN(shard, store->Shard(number));
    if (!shard.foreign) names.insert(shard.locator);
  }
  return Status::Ok();
}

// Takes the lock of an old index against its readers. An invalid descriptor: a reader has it, or may.
Result<UniqueFd> LockIndex(const WriteFolder& folder, const std::string& name) {
  // A name that is no file has no readers, and may go.
  Result<UniqueFd> opened = folder.OpenFile(name, O_RDONLY);
  if (opened.status().code() == Code::kInvalid) {
    return UniqueFd(::openat(folder.fd(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  if (!opened.ok()) return opened.status();
  UniqueFd fd = std::move(opened).value();
  int error = LockFile(fd.get(), LOCK_EX | LOCK_NB);
  if (error == EBADF) {
    // NFS gives an exclusive lock only where the file is open for writing. Elsewhere such an open would disturb those
    // who have a lease of the file.
    Result<UniqueFd> writable = folder.OpenFile(name, O_RDWR);
    if (writable.ok()) {
      fd = std::move(writable).value();
      error = LockFile(fd.get(), LOCK_EX | LOCK_NB);
    }
  }
  if (error == 0) return fd;
  // The file system has locks, or the writer's would have failed.
  if (error != EWOULDBLOCK) {
    spdlog::warn("{}: kept, because it cannot be locked, which would show that no mount uses it: {}", name,
                 ErrnoStatus(error, "flock").text());
  }
  return UniqueFd();
}

// When a file was last written; a name that is no file has no time. Both by the clock of the file system, which a
// server keeps.
time_t WrittenAt(const WriteFolder& folder, const std::string& name) {
  struct stat info {};
  return ::fstatat(folder.fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 ? info.st_mtim.tv_sec : 0;
}

// The old generations that were the current one less than `grace` ago: each was so until the index of the next one was
// written. REQUIRES: the lock was taken now, which has written its file.
std::set<uint64_t> YoungGenerations(const WriteFolder& folder, const std::vector<StoreFile>& files,
                                    uint64_t current_generation, std::chrono::seconds grace) {
  std::map<uint64_t, std::string> indexes;
  for (const StoreFile& file : files) {
    if (file.kind == StoreFileKind::kIndex && file.generation <= current_generation) {
      indexes[file.generation] = file.name;
    }
  }
  std::set<uint64_t> young;
  const time_t now = WrittenAt(folder, kLockName);
  for (auto next = indexes.begin(); next != indexes.end();) {
    const auto old = next++;
    if (next != indexes.end() && now - WrittenAt(folder, next->second) < grace.count()) young.insert(old->first);
  }
  return young;
}

}  // namespace

Result<CollectReport> RemoveOldGenerations(const std::string& path, std::chrono::seconds grace,
                                           const std::function<bool()>& stopped) {
  const auto goes_on = [&stopped] { return stopped && stopped() ? Status(Code::kStopped, "stopped") : Status::Ok(); };
  AUGUR_TRY_ASSIGN(held, WriteFolder::Open(path));
  AUGUR_TRY_ASSIGN(before,
                   ReadManifest(path));  // before the lock, so that nothing is
                                         // made in a folder without a store
  AUGUR_TRY_ASSIGN(lock, StoreLock::Take(held, "augurpack gc"));
  AUGUR_TRY_ASSIGN(manifest, ReadManifest(path));
  AUGUR_TRY_ASSIGN(folder, ListStoreFolder(held));
  CollectReport report;
  std::set<std::string> needed;
  AUGUR_TRY(AddShardNames(path, manifest.generation, needed));
  // A manifest that a crash takes back would name an earlier generation.
  AUGUR_TRY(held.Sync());
  const std::set<uint64_t> young = YoungGenerations(held, folder.files, manifest.generation, grace);
  uint64_t unreadable = 0;  // the latest kept generation whose index does not say what it needs
  for (const StoreFile& file : folder.files) {
    if (file.kind != StoreFileKind::kIndex || file.generation == manifest.generation) continue;
    UniqueFd fd;
    if (!young.contains(file.generation)) {
      AUGUR_TRY_ASSIGN(locked, LockIndex(held, file.name));
      fd = std::move(locked);
    }
    if (fd.valid()) {
      AUGUR_TRY(goes_on());
      // An index that has no name any more cannot be opened, so its lock need not be held until the shards are gone.
      AUGUR_TRY(RemoveStoreFiles(held, {file}, &report.removed_files, &report.removed_bytes));
      continue;
    }
    ++report.kept_generations;
    const Status named = AddShardNames(path, file.generation, needed);
    if (named.ok()) continue;
    spdlog::warn("{}: keeping every shard up to this generation, because it is in use and cannot be read: {}",
                 file.name, named.text());
    unreadable = std::max(unreadable, file.generation);
  }
  std::vector<StoreFile> garbage;
  for (const StoreFile& file : folder.files) {
    const bool is_shard = file.kind == StoreFileKind::kShard;
    if (file.kind == StoreFileKind::kIndex) continue;
    if (is_shard && (needed.contains(file.name) || file.generation <= unreadable)) continue;
    garbage.push_back(file);
  }
  for (const StoreFile& file : garbage) {
    AUGUR_TRY(goes_on());
    AUGUR_TRY(RemoveStoreFiles(held, {file}, &report.removed_files, &report.removed_bytes));
  }
  if (folder.has_work) AUGUR_TRY(RemoveWorkFolder(held, &report.removed_files, &report.removed_bytes));
  AUGUR_TRY(held.Sync());
  return report;
}

}  // namespace augur
