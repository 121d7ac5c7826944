// SPDX-License-Identifier: Apache-2.0
#include "store/work_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>

#include "augur/store_writer.h"
#include "base/unique_fd.h"
#include "store/file_io.h"

namespace augur {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecipeName = "recipe";

// The folder, when it is there and a folder.
Result<WriteFolder> Opened(const WriteFolder& folder) { return folder.OpenFolder(kWorkFolderName); }

// Whether this failure of an open says that there is no such thing, and not that it cannot be opened just now.
bool IsAbsent(const Status& opened) { return opened.code() == Code::kNotFound || opened.code() == Code::kInvalid; }

Result<bool> IsSameText(const WriteFolder& work, const std::string& recipe) {
  const Result<UniqueFd> fd = work.OpenFile(kRecipeName, O_RDONLY);
  if (!fd.ok()) return IsAbsent(fd.status()) ? Result<bool>(false) : fd.status();
  const std::string path = work.PathOf(kRecipeName);
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return ErrnoStatus(errno, path);
  if (info.st_size != static_cast<off_t>(recipe.size())) return false;
  std::string there(recipe.size(), '\0');
  AUGUR_TRY(ReadAt(fd->get(), path, std::as_writable_bytes(std::span(there)), 0));
  return there == recipe;
}

}  // namespace

std::string WorkFolder(const std::string& store) { return store + "/" + kWorkFolderName; }

Result<bool> HasRecipe(const WriteFolder& folder, const std::string& recipe) {
  struct stat info {};
  if (recipe.empty()) {
    if (::fstatat(folder.fd(), kWorkFolderName, &info, AT_SYMLINK_NOFOLLOW) == 0) return false;
    return errno == ENOENT ? Result<bool>(true) : ErrnoStatus(errno, folder.PathOf(kWorkFolderName));
  }
  const Result<WriteFolder> work = Opened(folder);
  if (!work.ok()) return IsAbsent(work.status()) ? Result<bool>(false) : work.status();
  return IsSameText(*work, recipe);
}

Status MakeWorkFolder(const WriteFolder& folder, const std::string& recipe) {
  AUGUR_TRY_ASSIGN(work, folder.MakeFolder(kWorkFolderName, 0777));
  AUGUR_TRY_ASSIGN(same, IsSameText(work, recipe));
  if (same) return Status::Ok();
  AUGUR_TRY(work.Remove(kRecipeName));
  AUGUR_TRY_ASSIGN(fd, work.MakeFile(kRecipeName, 0666));
  const std::string path = work.PathOf(kRecipeName);
  AUGUR_TRY(WriteAt(fd.get(), path, std::as_bytes(std::span(recipe)), 0));
  AUGUR_TRY(SyncFile(fd.get(), path));
  AUGUR_TRY(work.Sync());
  return folder.Sync();
}

bool IsWorkFolderUsed(const WriteFolder& folder) {
  std::error_code error;
  for (fs::directory_iterator at(WorkFolder(folder.path()), error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename() != kRecipeName) return true;
  }
  return static_cast<bool>(error);
}

namespace {

Status RemoveTree(const WriteFolder& folder, const std::string& name, uint64_t* files, uint64_t* bytes);

// Everything in the folder `opened`, but the name `kept`.
Status RemoveAllIn(const WriteFolder& opened, const std::string& kept, uint64_t* files, uint64_t* bytes) {
  UniqueFd fd(::openat(opened.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, opened.path());
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(fd.get()), &::closedir);
  if (dir == nullptr) return ErrnoStatus(errno, opened.path());
  fd.Release();
  while (const dirent* item = ::readdir(dir.get())) {  // NOLINT(concurrency-mt-unsafe): the stream is our own
    const std::string name = item->d_name;
    if (name != "." && name != ".." && name != kept) AUGUR_TRY(RemoveTree(opened, name, files, bytes));
  }
  return Status::Ok();
}

// A file, a link or a folder with what is in it.
Status RemoveTree(const WriteFolder& folder, const std::string& name, uint64_t* files, uint64_t* bytes) {
  struct stat info {};
  if (::fstatat(folder.fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? Status::Ok() : ErrnoStatus(errno, folder.PathOf(name));
  }
  if (!S_ISDIR(info.st_mode)) {
    if (S_ISREG(info.st_mode)) {
      ++*files;
      *bytes += static_cast<uint64_t>(info.st_size);
    }
    return folder.Remove(name);
  }
  {
    AUGUR_TRY_ASSIGN(opened, folder.OpenFolder(name));
    AUGUR_TRY(RemoveAllIn(opened, "", files, bytes));
  }
  if (::unlinkat(folder.fd(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return ErrnoStatus(errno, folder.PathOf(name));
  }
  return Status::Ok();
}

}  // namespace

Status RemoveContents(const WriteFolder& opened, const std::string& kept) {
  uint64_t files = 0;
  uint64_t bytes = 0;
  return RemoveAllIn(opened, kept, &files, &bytes);
}

Status RemoveWorkFolder(const WriteFolder& folder, uint64_t* removed_files, uint64_t* removed_bytes) {
  uint64_t files = 0;
  uint64_t bytes = 0;
  if (const Result<WriteFolder> work = Opened(folder); work.ok()) {
    AUGUR_TRY(RemoveTree(*work, kRecipeName, &files, &bytes));
  }
  AUGUR_TRY(RemoveTree(folder, kWorkFolderName, &files, &bytes));
  if (removed_files != nullptr) *removed_files += files;
  if (removed_bytes != nullptr) *removed_bytes += bytes;
  return Status::Ok();
}

}  // namespace augur
