// SPDX-License-Identifier: Apache-2.0
#include "recorded_runs/replay_folders.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

#include "recorded_runs/replay_folder.h"

namespace augur {
namespace {

constexpr size_t kFolderNameBytes = 16;

struct DatedFolder {
  timespec opened;
  std::string path;
};

bool IsName(std::string_view name) {
  return name.size() == kFolderNameBytes && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void RemoveFolder(const std::string& path) {
  const Result<ReplayFolder> folder = ReplayFolder::Open(path);
  if (!folder.ok()) return;  // another user's, say
  const auto files = folder->List();
  if (!files.ok()) return;
  for (const ReplayFolder::File& file : *files) static_cast<void>(folder->Remove(file.name));
  ::rmdir(path.c_str());  // not while a writer is at work in it, or when it holds other programs' files
}

}  // namespace

Status TrimReplayFolders(const std::string& orders, size_t folders_max) {
  std::vector<DatedFolder> folders;
  std::error_code error;
  for (std::filesystem::directory_iterator at(orders, error), end; !error && at != end; at.increment(error)) {
    struct stat info {};
    const std::string path = at->path().string();
    if (!IsName(at->path().filename().string()) || ::lstat(path.c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode) && info.st_uid == ::geteuid()) folders.push_back({info.st_mtim, path});
  }
  if (error) return ErrnoStatus(error.value(), orders);
  if (folders.size() <= folders_max) return Status::Ok();
  std::sort(folders.begin(), folders.end(), [](const DatedFolder& a, const DatedFolder& b) {
    return std::tie(a.opened.tv_sec, a.opened.tv_nsec) > std::tie(b.opened.tv_sec, b.opened.tv_nsec);
  });
  for (size_t i = folders_max; i < folders.size(); ++i) RemoveFolder(folders[i].path);
  return Status::Ok();
}

}  // namespace augur
