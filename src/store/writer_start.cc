// SPDX-License-Identifier: Apache-2.0
#include "store/writer_start.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "augur/store.h"
#include "base/check.h"
#include "base/log.h"
#include "base/units.h"
#include "store/generation_upload.h"
#include "store/manifest.h"
#include "store/resume_scan.h"
#include "store/store_folder.h"
#include "store/work_folder.h"

namespace augur {
namespace {

Status NoStore(const std::string& path) {
  return {Code::kNotFound, path + ": there is no store to append to: create one first"};
}

// True when the folder was made.
Result<bool> MakeFolder(const std::string& path, WriteMode mode) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (!S_ISDIR(info.st_mode)) return Status(Code::kInvalid, path + ": not a folder; a store is one");
    return false;
  }
  if (errno != ENOENT) return ErrnoStatus(errno, path);
  if (mode == WriteMode::kAppend) return NoStore(path);
  if (::mkdir(path.c_str(), 0777) == 0) return true;
  if (errno == EEXIST) return false;
  const Status status = ErrnoStatus(errno, path + ": cannot make the folder");
  if (status.code() == Code::kNotFound) return Status(status.code(), status.text() + ": make the one above it first");
  return status;
}

// Whether the mode fits what is there, and whether we may write there at all.
Status CheckFolder(const WriteFolder& opened, const StoreFolder& folder, WriteMode mode) {
  const std::string& path = opened.path();
  if (folder.has_manifest) {
    if (mode != WriteMode::kCreate) return Status::Ok();
    return {Code::kExists, path + ": there is a store already"};
  }
  if (mode == WriteMode::kAppend) return NoStore(path);
  // Without our lock file, even names like ours are those of another program.
  std::string stranger = folder.stranger;
  if (stranger.empty() && !folder.has_lock && folder.has_work) stranger = kWorkFolderName;
  if (stranger.empty() && folder.has_lock && StoreLock::IsOfOthers(opened)) stranger = kLockName;
  if (stranger.empty() && !folder.has_lock && !folder.files.empty()) stranger = folder.files[0].name;
  if (stranger.empty()) return Status::Ok();
  return {Code::kInvalid, path + ": holds other files ('" + Printable(stranger) +
                              "') and no store: give a folder that is empty or does not exist yet"};
}

// Removes what killed writers left of this generation and above, but for the shards in `kept`, whose numbers have no
// gap, and the work folder after the shards that were made there.
Status ClearDebris(const WriteFolder& opened, const StoreFolder& folder, uint64_t generation,
                   const std::vector<ShardProgress>& kept, bool keep_work) {
  const std::string& path = opened.path();
  std::vector<StoreFile> debris;
  uint64_t kept_items = 0;
  for (const ShardProgress& shard : kept) kept_items += shard.item_count;
  for (const StoreFile& file : folder.files) {
    if (file.kind != StoreFileKind::kTemporary && file.generation < generation) continue;
    const bool is_in = !kept.empty() && file.generation == generation && file.number >= kept.front().number &&
                       file.number <= kept.back().number;
    const bool is_kept =
        is_in && (file.kind == StoreFileKind::kShard ||
                  (file.kind == StoreFileKind::kSidecar && !kept[file.number - kept.front().number].complete));
    if (!is_kept) debris.push_back(file);
  }
  uint64_t files = 0;
  uint64_t bytes = 0;
  AUGUR_TRY(RemoveStoreFiles(opened, debris, &files, &bytes));
  if (folder.has_work && !keep_work) AUGUR_TRY(RemoveWorkFolder(opened, &files, &bytes));
  if (files > 0) spdlog::info("{}: removed {} files ({}) that an unfinished run left", path, files, FormatSize(bytes));
  if (!kept.empty()) {
    spdlog::info("{}: an unfinished run left {} shards that list {} entries: going on from there", path, kept.size(),
                 kept_items);
  }
  return Status::Ok();
}

// Finds out how much a killed writer left that can be gone on with. False: it packed something else.
Result<bool> FindLeft(const WriterOptions& options, uint32_t first_shard, WriterStart& start) {
  AUGUR_TRY_ASSIGN(is_same, HasRecipe(*start.folder, options.recipe));
  if (!is_same) return false;
  AUGUR_TRY_ASSIGN(progress, FindProgress(*start.folder, start.generation, start.base_generation, first_shard));
  start.progress = std::move(progress);
  return true;
}

// Makes the folder ready: with what can be gone on with, where that is wanted, and without any other debris.
Status ClearOrGoOn(const StoreFolder& folder, const WriterOptions& options, bool resume, uint32_t first_shard,
                   WriterStart& start) {
  const WriteFolder& opened = *start.folder;
  bool goes_on = false;
  if (resume) {
    const Result<bool> left = FindLeft(options, first_shard, start);
    if (!left.ok()) {
      return {left.status().code(), left.status().text() +
                                        ": what the run before has left stays as it is: run it again when that can be "
                                        "read, or without --resume, which starts anew"};
    }
    goes_on = *left;
    if (!goes_on && folder.has_work && options.upload == nullptr) {
      spdlog::info("{}: a killed run packed something else, or with other options: starting anew", opened.path());
    }
  }
  AUGUR_TRY(ClearDebris(opened, folder, start.generation, start.progress, goes_on));
  return options.recipe.empty() ? Status::Ok() : MakeWorkFolder(opened, options.recipe);
}

// The newest generation with own shards in what is appended to, or 0.
Result<uint64_t> NewestOwnGeneration(const Store& store) {
  uint64_t newest = 0;
  for (uint32_t number = 0; number < store.summary().shard_count; ++number) {
    AUGUR_TRY_ASSIGN(shard, store.Shard(number));
    if (!shard.foreign) newest = std::max(newest, shard.generation);
  }
  return newest;
}

// In a folder that is empty, or has what a killed run left: what there is of the store is elsewhere.
Result<WriterStart> StartForUpload(const std::string& path, const WriterOptions& options) {
  WriterStart start;
  AUGUR_TRY_ASSIGN(held, WriteFolder::Open(path));
  start.folder = std::make_unique<WriteFolder>(std::move(held));
  AUGUR_TRY_ASSIGN(lock, StoreLock::Take(*start.folder, options.writer));
  start.lock = std::move(lock);
  start.generation = options.upload->generation();
  uint32_t first_shard = 0;
  if (const std::shared_ptr<const Store> old = options.upload->old()) {
    first_shard = old->summary().shard_count;
    AUGUR_TRY_ASSIGN(base, NewestOwnGeneration(*old));
    start.base_generation = base;
  }
  AUGUR_TRY_ASSIGN(folder, ListStoreFolder(*start.folder));
  AUGUR_TRY(ClearOrGoOn(folder, options, options.resume && options.upload->goes_on(), first_shard, start));
  return start;
}

Result<WriterStart> StartInFolder(const std::string& path, const WriterOptions& options) {
  WriterStart start;
  AUGUR_TRY_ASSIGN(held, WriteFolder::Open(path));
  start.folder = std::make_unique<WriteFolder>(std::move(held));
  const WriteFolder& opened = *start.folder;
  AUGUR_TRY_ASSIGN(before, ListStoreFolder(opened));
  AUGUR_TRY(CheckFolder(opened, before, options.mode));
  AUGUR_TRY_ASSIGN(lock, StoreLock::Take(opened, options.writer));
  start.lock = std::move(lock);
  // Again under the lock: another writer may just have ended.
  AUGUR_TRY_ASSIGN(folder, ListStoreFolder(opened));
  if (Status status = CheckFolder(opened, folder, options.mode); !status.ok()) return status;
  start.has_store = folder.has_manifest;
  uint32_t first_shard = 0;
  if (folder.has_manifest) {
    const Result<Manifest> manifest = ReadManifestAt(opened.fd());
    if (!manifest.ok()) return manifest.status().In(path);
    start.generation = manifest->generation;
    if (options.mode == WriteMode::kAppend) {
      AUGUR_TRY_ASSIGN(store, Store::Open(path));
      first_shard = store->summary().shard_count;
      AUGUR_TRY_ASSIGN(base, NewestOwnGeneration(*store));
      start.base_generation = base;
    }
  }
  if (++start.generation > kGenerationMax) return Status(Code::kInvalid, path + ": no generation number is left");
  AUGUR_TRY(ClearOrGoOn(folder, options, options.resume, first_shard, start));
  return start;
}

}  // namespace

Result<WriterStart> StartWriter(const std::string& path, const WriterOptions& options) {
  if (options.upload != nullptr) return StartForUpload(path, options);
  AUGUR_TRY_ASSIGN(made, MakeFolder(path, options.mode));
  Result<WriterStart> start = StartInFolder(path, options);
  if (start.ok()) {
    start->made_folder = made;
  } else if (made) {
    ::rmdir(path.c_str());  // fails, as it should, when another writer came first
  }
  return start;
}

}  // namespace augur
