// SPDX-License-Identifier: Apache-2.0
#include "store/store_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

#include "store/entry_spool.h"
#include "store/manifest.h"
#include "store/shard_writer.h"
#include "store/store_lock.h"
#include "store/work_folder.h"

namespace augur {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

// Reads digits up to `end`, or to the end of the text, off the front of `text`.
std::optional<uint64_t> TakeNumber(std::string_view& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

}  // namespace

// A name is ours only when it is spelled as we spell it.
std::optional<StoreFile> ClassifyStoreFile(const std::string& name) {
  StoreFile file{.name = name};
  std::string_view rest = name;
  if (name == kNewManifestName || name == kEntrySpoolName || name == kBlockSpoolName) return file;
  if (rest.starts_with("index-")) {
    rest.remove_prefix(6);
    const auto generation = TakeNumber(rest);
    if (!generation || *generation == 0 || *generation > kGenerationMax || IndexName(*generation) != name) return {};
    file.kind = StoreFileKind::kIndex;
    file.generation = *generation;
    return file;
  }
  if (!rest.starts_with("shard-")) return {};
  rest.remove_prefix(6);
  const auto generation = TakeNumber(rest);
  if (!generation || *generation == 0 || *generation > kGenerationMax || !rest.starts_with('-')) return {};
  rest.remove_prefix(1);
  const auto number = TakeNumber(rest);
  if (!number || *number > 0xFFFFFFFE) return {};
  file.generation = *generation;
  file.number = static_cast<uint32_t>(*number);
  file.kind = rest.empty() ? StoreFileKind::kShard : StoreFileKind::kSidecar;
  const std::string spelled =
      rest.empty() ? ShardName(file.generation, file.number) : SidecarName(file.generation, file.number);
  return spelled == name ? std::optional(file) : std::nullopt;
}

Result<StoreFolder> ListStoreFolder(const std::string& path) {
  AUGUR_TRY_ASSIGN(folder, WriteFolder::Open(path));
  return ListStoreFolder(folder);
}

Result<StoreFolder> ListStoreFolder(const WriteFolder& opened) {
  const std::string& path = opened.path();
  // Opened anew: a second descriptor of the same open folder would share its position.
  UniqueFd fd(::openat(opened.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  const std::unique_ptr<DIR, CloseDir> dir(::fdopendir(fd.get()));
  if (dir == nullptr) return ErrnoStatus(errno, path);
  fd.Release();
  StoreFolder folder;
  for (;;) {
    errno = 0;
    const dirent* item = ::readdir(dir.get());  // NOLINT(concurrency-mt-unsafe): the stream is this function's own
    if (item == nullptr) break;
    const std::string name = item->d_name;
    // A file system that is new has lost+found in its root, and may well be there for the store alone.
    if (name == "." || name == ".." || name == "lost+found") continue;
    if (name == kManifestName) {
      folder.has_manifest = true;
    } else if (name == kLockName) {
      folder.has_lock = true;
    } else if (name == kWorkFolderName) {
      folder.has_work = true;
    } else if (auto file = ClassifyStoreFile(name)) {
      folder.files.push_back(std::move(*file));
    } else if (folder.stranger.empty()) {
      folder.stranger = name;
    }
  }
  if (errno != 0) return ErrnoStatus(errno, path);
  std::sort(folder.files.begin(), folder.files.end(),
            [](const StoreFile& a, const StoreFile& b) { return a.name < b.name; });
  return folder;
}

Status RemoveStoreFiles(const WriteFolder& folder, const std::vector<StoreFile>& files, uint64_t* removed_files,
                        uint64_t* removed_bytes) {
  for (const StoreFile& file : files) {
    struct stat info {};
    if (::fstatat(folder.fd(), file.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;
      return ErrnoStatus(errno, folder.PathOf(file.name));
    }
    AUGUR_TRY(folder.Remove(file.name));
    if (removed_files != nullptr) ++*removed_files;
    if (removed_bytes != nullptr) *removed_bytes += static_cast<uint64_t>(info.st_size);
  }
  return Status::Ok();
}

}  // namespace augur
