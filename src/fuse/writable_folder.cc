// SPDX-License-Identifier: Apache-2.0
#include "fuse/writable_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/trusted_path.h"
#include "base/unique_fd.h"
#include "base/units.h"

namespace augur {
namespace {

constexpr const char* kOf = "of";
constexpr const char* kUpperFolder = "upper";
constexpr const char* kWorkFolder = "work";
// The layers are reached by who serves and who asks the daemon; what is in them has modes of its own.
constexpr mode_t kFolderMode = 0755;
constexpr mode_t kLayerMode = 0700;
constexpr mode_t kFileMode = 0600;
// "generation 12", "index " with 64 digits, "view " with a spec.
constexpr size_t kTreeBytesMax = 4096;

bool LiesIn(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

// Of an absolute path without a slash at its end.
std::string_view FolderAbove(std::string_view path) { return path.substr(0, std::max<size_t>(path.rfind('/'), 1)); }
std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The value of a line "name value"; empty: there is none.
std::string ValueOf(std::string_view tree, std::string_view name) {
  while (!tree.empty()) {
    const size_t end = tree.find('\n');
    const std::string_view line = tree.substr(0, end);
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ') {
      return std::string(line.substr(name.size() + 1));
    }
    if (end == std::string_view::npos) break;
    tree.remove_prefix(end + 1);
  }
  return {};
}

Status CheckLetters(const std::string& path) {
  if (path.find_first_of(",:\\") == std::string::npos) return Status::Ok();
  return {Code::kInvalid, "-o writable: " + Printable(path) +
                              ": an overlay takes no path with a comma, a colon or a backslash: choose another one"};
}

// What the system says of a place, which is Printable.
Status Failed(const std::string& place) { return ErrnoStatus(errno, "-o writable: " + place); }

// The path by which the kernel knows an open folder.
Status PathOf(int folder_fd, std::string* path) {
  std::array<char, PATH_MAX> text{};
  const ssize_t bytes = readlink(("/proc/self/fd/" + std::to_string(folder_fd)).c_str(), text.data(), text.size());
  if (bytes < 0) return Failed(Printable(*path));
  path->assign(text.data(), static_cast<size_t>(bytes));
  return Status::Ok();
}

Status OtherTree(const std::string& path, const std::string& was, const std::string& is) {
  const std::string generation = ValueOf(was, "generation");
  std::string what = "another store";
  std::string cure;
  if (generation != ValueOf(is, "generation")) {
    what = "generation " + generation + ", and this is generation " + ValueOf(is, "generation");
    cure = ", or, if that was this store, mount with generation=" + generation;
  } else if (ValueOf(was, "view") != ValueOf(is, "view")) {
    const std::string view = ValueOf(was, "view");
    what = view.empty() ? "the original files" : "view " + view;
    cure = view.empty() ? ", or mount without view=" : ", or mount with view=" + view;
  }
  return {Code::kChanged, "-o writable: " + Printable(path) + " has what was written over " + Printable(what) +
                              ", and would hide files of this tree: give a folder that is empty or new" +
                              Printable(cure)};
}

// Root mounts, and empties the work folder, where these names lead. No other user may exchange them.
Status CheckOwner(int folder_fd, const std::string& path) {
  struct stat folder {};
  if (fstat(folder_fd, &folder) != 0) return ErrnoStatus(errno, Printable(path));
  if (geteuid() != 0 || (folder.st_uid == 0 && (folder.st_mode & 022) == 0)) return Status::Ok();
  return {Code::kPermission, "-o writable: " + Printable(path) +
                                 ": users other than root may change this folder: name one that does not exist yet, or "
                                 "one that root alone may write to"};
}

// A folder that Claim has not marked, and that has other files, is there for something else.
Status CheckContents(const std::string& opened, const std::string& path) {
  if (access((opened + "/" + kOf).c_str(), F_OK) == 0) return Status::Ok();
  static constexpr auto kOwn =
      std::to_array<std::string_view>({kLowerFolder, kUpperFolder, kWorkFolder, kOverlayFile, "lost+found"});
  std::error_code error;
  std::filesystem::directory_iterator entry(opened, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (std::ranges::find(kOwn, name) != kOwn.end()) continue;
    return {Code::kInvalid, "-o writable: " + Printable(path) + " has files of something else, as " + Printable(name) +
                                ": name a new folder"};
  }
  return error ? ErrnoStatus(error.value(), "-o writable: " + Printable(path)) : Status::Ok();
}

}  // namespace

Status WritableFolder::Resolve() {
  const Result<UniqueFd> folder = OpenTrustedFolder(path_, MissingFolders::kFail);
  if (folder.ok()) return PathOf(folder->get(), &path_);
  if (folder.status().code() != Code::kNotFound) return folder.status().In("-o writable");
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  const std::string name(NameOf(path_));
  std::string parent(FolderAbove(path_));
  const Result<UniqueFd> above = OpenTrustedFolder(parent, MissingFolders::kFail);
  if (above.status().code() == Code::kNotFound) {
    return {Code::kNotFound, "-o writable: " + Printable(path_) + ": the folder above it, " + Printable(parent) +
                                 ", does not exist: correct the path, or make that folder first (mkdir -p)"};
  }
  if (!above.ok()) return above.status().In("-o writable");
  AUGUR_TRY(PathOf(above->get(), &parent));
  path_ = (parent == "/" ? parent : parent + "/") + name;
  struct stat there {};
  if (fstatat(above->get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(there.st_mode)) {
    return {Code::kNotFound,
            "-o writable: " + Printable(path_) + ": the symbolic link leads nowhere: make its target, or remove it"};
  }
  is_new_ = true;
  return Status::Ok();
}

Status WritableFolder::Make(const std::string& point) {
  AUGUR_TRY(CheckLetters(path_));
  AUGUR_TRY(Resolve());
  AUGUR_TRY(CheckLetters(path_));
  if (LiesIn(path_, point) || LiesIn(point, path_)) {
    return {Code::kInvalid, "-o writable: " + Printable(path_) + " and the mount point " + Printable(point) +
                                ": one lies in the other: choose a folder beside the mount point"};
  }
  Status status = MakeFolders();
  if (!status.ok()) Undo();
  return status;
}

Status WritableFolder::MakeFolders() {
  if (is_new_) {
    AUGUR_TRY_ASSIGN(above, OpenTrustedFolder(std::string(FolderAbove(path_)), MissingFolders::kFail));
    is_new_ = mkdirat(above.get(), std::string(NameOf(path_)).c_str(), kLayerMode) == 0;
    if (!is_new_) return Failed(Printable(path_));
  }
  AUGUR_TRY_ASSIGN(folder, OpenTrustedFolder(path_, MissingFolders::kFail));
  // By the descriptor, which is of O_PATH.
  const std::string opened = "/proc/self/fd/" + std::to_string(folder.get());
  if (is_new_ && chmod(opened.c_str(), kFolderMode) != 0) return Failed(Printable(path_));
  AUGUR_TRY(CheckOwner(folder.get(), path_));
  AUGUR_TRY(CheckContents(opened, path_));
  for (const char* name : {kLowerFolder, kUpperFolder, kWorkFolder}) {
    const mode_t mode = std::string_view(name) == kLowerFolder ? kFolderMode : kLayerMode;
    const bool made = mkdirat(folder.get(), name, mode) == 0;
    if (!made && errno != EEXIST) return Failed(Printable(path_) + "/" + name);
    if (made) made_.emplace_back(name);
  }
  return Status::Ok();
}

void WritableFolder::Undo() const {
  const Result<UniqueFd> folder = OpenTrustedFolder(path_, MissingFolders::kFail);
  if (!folder.ok()) return;
  if (is_claimed_) (void)unlinkat(folder->get(), kOf, 0);
  for (const std::string& name : made_) {
    if (name == kWorkFolder) {
      // An overlay that could not be laid may have made these.
      for (const char* own : {"work/work", "work/index"}) (void)unlinkat(folder->get(), own, AT_REMOVEDIR);
    }
    (void)unlinkat(folder->get(), name.c_str(), AT_REMOVEDIR);
  }
  if (!is_new_) return;
  const Result<UniqueFd> above = OpenTrustedFolder(std::string(FolderAbove(path_)), MissingFolders::kFail);
  if (above.ok()) (void)unlinkat(above->get(), std::string(NameOf(path_)).c_str(), AT_REMOVEDIR);
}

Status WritableFolder::NoteOverlay(const std::string& device) const {
  AUGUR_TRY_ASSIGN(folder, OpenTrustedFolder(path_, MissingFolders::kFail));
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  const UniqueFd file(openat(folder.get(), kOverlayFile, kFlags, kFileMode));
  const std::string line = device + "\n";
  if (!file.valid() || write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return ErrnoStatus(errno, Printable(path_) + "/" + kOverlayFile);
  }
  return Status::Ok();
}

Status WritableFolder::Claim(const std::string& tree) {
  AUGUR_TRY_ASSIGN(folder, OpenTrustedFolder(path_, MissingFolders::kFail));
  const UniqueFd written(openat(folder.get(), kOf, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (written.valid()) {
    std::array<char, kTreeBytesMax> text{};
    const ssize_t bytes = read(written.get(), text.data(), text.size());
    if (bytes < 0) return Failed(Printable(path_) + "/of");
    const std::string was(text.data(), static_cast<size_t>(bytes));
    return was == tree ? Status::Ok() : OtherTree(path_, was, tree);
  }
  if (errno != ENOENT) return Failed(Printable(path_) + "/of");
  // The root of the overlay is that of the upper folder.
  struct stat root {};
  if (stat(lower().c_str(), &root) != 0) return ErrnoStatus(errno, Printable(lower()));
  const UniqueFd upper_folder(openat(folder.get(), kUpperFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!upper_folder.valid()) return Failed(Printable(upper()));
  // An ordinary user cannot give a folder away, and owns all that the mount shows.
  if (geteuid() == 0 && fchown(upper_folder.get(), root.st_uid, root.st_gid) != 0) {
    return Failed(Printable(upper()));
  }
  if (fchmod(upper_folder.get(), root.st_mode & 07777) != 0) return Failed(Printable(upper()));
  const UniqueFd file(openat(folder.get(), kOf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!file.valid()) return Failed(Printable(path_) + "/of");
  if (write(file.get(), tree.data(), tree.size()) != static_cast<ssize_t>(tree.size())) {
    Status status = Failed(Printable(path_) + "/of");
    (void)unlinkat(folder.get(), kOf, 0);
    return status;
  }
  is_claimed_ = true;
  return Status::Ok();
}

}  // namespace augur
