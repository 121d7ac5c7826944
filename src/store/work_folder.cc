// SPDX-License-Identifier: Apache-2.0
#include "store/work_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <span>
#include <system_error>

#include "augur/store_writer.h"
#include "base/unique_fd.h"
#include "store/file_io.h"

namespace augur {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecipeName = "recipe";

std::string RecipePath(const std::string& folder) { return WorkFolder(folder) + "/" + kRecipeName; }

}  // namespace

std::string WorkFolder(const std::string& store) { return store + "/" + kWorkFolderName; }

bool HasRecipe(const std::string& folder, const std::string& recipe) {
  struct stat info {};
  if (recipe.empty()) return ::lstat(WorkFolder(folder).c_str(), &info) != 0;
  const std::string path = RecipePath(folder);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) return false;
  if (info.st_size != static_cast<off_t>(recipe.size())) return false;
  std::string there(recipe.size(), '\0');
  return ReadAt(fd.get(), path, std::as_writable_bytes(std::span(there)), 0).ok() && there == recipe;
}

Status MakeWorkFolder(const std::string& folder, const std::string& recipe) {
  const std::string work = WorkFolder(folder);
  if (::mkdir(work.c_str(), 0777) != 0 && errno != EEXIST) return ErrnoStatus(errno, work);
  if (HasRecipe(folder, recipe)) return Status::Ok();
  const std::string path = RecipePath(folder);
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  AUGUR_TRY(WriteAt(fd.get(), path, std::as_bytes(std::span(recipe)), 0));
  AUGUR_TRY(SyncFile(fd.get(), path));
  AUGUR_TRY(SyncFolder(work));
  return SyncFolder(folder);
}

bool IsWorkFolderUsed(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator at(WorkFolder(folder), error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename() != kRecipeName) return true;
  }
  return false;
}

Status RemoveWorkFolder(const std::string& folder, uint64_t* removed_files, uint64_t* removed_bytes) {
  const std::string work = WorkFolder(folder);
  uint64_t files = 0;
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(work, error), end; !error && at != end; at.increment(error)) {
    if (at->symlink_status(error).type() != fs::file_type::regular) continue;
    ++files;
    bytes += at->file_size(error);
  }
  if (::unlink(RecipePath(folder).c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
    return ErrnoStatus(errno, RecipePath(folder));
  }
  error.clear();
  fs::remove_all(work, error);
  if (error) return ErrnoStatus(error.value(), work);
  if (removed_files != nullptr) *removed_files += files;
  if (removed_bytes != nullptr) *removed_bytes += bytes;
  return Status::Ok();
}

}  // namespace augur
