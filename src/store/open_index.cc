// SPDX-License-Identifier: Apache-2.0
#include "store/open_index.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/regular_file.h"
#include "store/sha256.h"

namespace augur {
namespace {

// Whoever removes a generation holds its lock for the time of a few unlinks, so 100 tries 10 ms apart outlast it by
// far.
constexpr int kTriesMax = 100;
constexpr auto kTryPause = std::chrono::milliseconds(10);

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

// `*manifest_generation` is what the manifest says, as soon as it has been read.
Result<OpenedIndex> TryOpen(const std::string& folder, const StoreOptions& options, uint64_t* manifest_generation,
                            bool* vanished) {
  const uint64_t generation = options.generation;
  OpenedIndex opened;
  opened.folder_fd = UniqueFd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened.folder_fd.valid()) return ErrnoStatus(errno, "cannot open the store's folder");
  AUGUR_TRY_ASSIGN(manifest, ReadManifestAt(opened.folder_fd.get()));
  *manifest_generation = manifest.generation;
  const uint64_t wanted = generation == 0 ? manifest.generation : generation;
  if (wanted > manifest.generation) {
    return Status(Code::kNotFound, "there is no generation " + std::to_string(wanted) + ": the store is at " +
                                       std::to_string(manifest.generation));
  }
  const bool current = wanted == manifest.generation;
  Result<UniqueFd> fd = OpenAndLock(opened.folder_fd.get(), IndexName(wanted));
  if (!fd.ok()) {
    *vanished = fd.status().code() == Code::kBusy;
    return fd.status();
  }
  if (!fd->valid() && !current) {
    return Status(Code::kNotFound, "generation " + std::to_string(wanted) + " has been removed: the store is at " +
                                       std::to_string(manifest.generation));
  }
  if (!fd->valid()) {
    *vanished = true;
    return Status(Code::kCorrupt, IndexName(wanted) +
                                      ": missing, and the manifest names it: copy it back from where "
                                      "the store came from, or pack the store again");
  }
  AUGUR_TRY_ASSIGN(place, PlaceOf(opened.folder_fd.get(), fd->get()));
  AUGUR_TRY_ASSIGN(rights,
                   ShardRights::Make(opened.folder_fd.get(), folder, fd->get(), IndexName(wanted), ForeignFolders()));
  opened.rights = std::make_unique<const ShardRights>(std::move(rights));
  Result<std::unique_ptr<IndexReader>> index = IndexReader::Open(
      std::move(*fd), IndexName(wanted), wanted, current ? &manifest : nullptr, options.index_bytes_max);
  if (!index.ok()) return index.status();
  opened.manifest = std::move(manifest);
  opened.place = place;
  opened.index = std::move(*index);
  return opened;
}

Status CheckPin(const CheckedHeader& header, const Digest& pinned) {
  const std::optional<Digest> root_hash = header.RootHash();
  if (!root_hash) {
    return {
        Code::kInvalid,
        "is of format version 1, which has no root hash to compare with: 'augurpack upgrade' makes it one of version "
        "2, or open it without a root hash"};
  }
  if (*root_hash == pinned) return Status::Ok();
  return {Code::kInvalid, "its root hash is " + HexOf(*root_hash) + " and not " + HexOf(pinned) +
                              ", as asked for: it is another store, or a generation that was added since; 'augurpack "
                              "info' prints the root hash"};
}

}  // namespace

Result<OpenedIndex> OpenIndex(const std::string& folder, const StoreOptions& options) {
  uint64_t missing_generation = 0;
  for (int tries = 1;; ++tries) {
    uint64_t manifest_generation = 0;
    bool vanished = false;
    Result<OpenedIndex> opened = TryOpen(folder, options, &manifest_generation, &vanished);
    if (opened.ok() && options.root_hash) {
      if (const Status pin = CheckPin(opened->index->header(), *options.root_hash); !pin.ok()) return pin.In(folder);
    }
    if (opened.ok()) return opened;
    const bool busy = opened.status().code() == Code::kBusy;
    // Missing twice under the same manifest: nobody replaced it meanwhile, it is simply not there.
    const bool hopeless = !vanished || (!busy && missing_generation == manifest_generation) || tries == kTriesMax;
    if (hopeless) return opened.status().In(folder);
    missing_generation = busy ? 0 : manifest_generation;
    std::this_thread::sleep_for(kTryPause);
  }
}

}  // namespace augur
