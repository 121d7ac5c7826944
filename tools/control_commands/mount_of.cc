// SPDX-License-Identifier: Apache-2.0
#include "tools/control_commands/mount_of.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/mount_table.h"

namespace augur {
namespace {

constexpr int kFolder = O_PATH | O_CLOEXEC | O_DIRECTORY;
constexpr int kOverlaysMax = 4;    // one upon another: the kernel allows two
constexpr int kDepthMax = 10'000;  // folders above one another: the kernel's paths have half as many

// Of /proc/self/fdinfo, which asks no file system. Nothing: /proc is not there.
std::optional<uint64_t> MountIdOf(int fd) {
  const UniqueFd file(open(("/proc/self/fdinfo/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  const ssize_t bytes = file.valid() ? read(file.get(), text.data(), text.size()) : 0;
  const std::string_view all(text.data(), static_cast<size_t>(bytes > 0 ? bytes : 0));
  constexpr std::string_view kName = "mnt_id:";
  size_t at = all.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  at = all.find_first_not_of(" \t", at + kName.size());
  uint64_t id = 0;
  if (at == std::string_view::npos || std::from_chars(all.data() + at, all.data() + all.size(), id).ec != std::errc()) {
    return std::nullopt;
  }
  return id;
}

std::string PathOf(int fd) {
  std::array<char, PATH_MAX> text{};
  const ssize_t bytes = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), text.data(), text.size());
  return {text.data(), static_cast<size_t>(bytes > 0 ? bytes : 0)};
}

UniqueFd OpenFolder(const std::string& path) {
  UniqueFd folder(open(path.c_str(), kFolder));
  if (folder.valid() || errno != ENOTDIR) return folder;
  const UniqueFd file(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!file.valid()) return {};
  const std::string whole = PathOf(file.get());
  return UniqueFd(open(whole.substr(0, whole.rfind('/') + 1).c_str(), kFolder));
}

// The topmost folder that the same mount shows.
UniqueFd TopOf(UniqueFd folder, uint64_t id) {
  for (int depth = 0; depth < kDepthMax; ++depth) {
    UniqueFd parent(openat(folder.get(), "..", kFolder));
    if (!parent.valid() || MountIdOf(parent.get()) != id || PathOf(parent.get()) == PathOf(folder.get())) break;
    folder = std::move(parent);
  }
  return folder;
}

bool IsFuse(const MountRow& row) { return row.type == "fuse" || row.type.starts_with("fuse."); }

// A mount that shows the whole of the file system that `row` shows a folder of.
UniqueFd WholeOf(const MountRow& row, const std::vector<MountRow>& rows) {
  for (const MountRow& other : rows) {
    if (other.device != row.device || other.root != "/") continue;
    UniqueFd root(open(other.mount_point.c_str(), kFolder));
    if (root.valid() && MountIdOf(root.get()) == other.id) return root;  // else something is mounted over it
  }
  return {};
}

// The folder below an overlay that an ordinary user has laid with -o writable=. kNotFound: it is none of those;
// kPermission: that is not known to this user.
Result<std::string> LowerOfUser(const MountRow& overlay, const std::vector<MountRow>& rows) {
  Status none(Code::kNotFound, "");
  const std::string end = std::string("/") + kLowerFolder;
  for (const MountRow& row : rows) {
    if (row.type != kAugurfsType || row.user != overlay.user || !row.mount_point.ends_with(end)) continue;
    const std::string folder = row.mount_point.substr(0, row.mount_point.size() - end.size());
    const std::string note = folder + "/" + kOverlayFile;
    const UniqueFd file(open(note.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.valid() && errno == EACCES) none = Status(Code::kPermission, "");
    std::array<char, 64> text{};
    const ssize_t bytes = file.valid() ? read(file.get(), text.data(), text.size()) : 0;
    const std::string_view line(text.data(), static_cast<size_t>(bytes > 0 ? bytes : 0));
    if (line == overlay.device + "\n") return row.mount_point;
  }
  return none;
}

MountLook Look(const std::string& path, int overlays) {
  UniqueFd folder = OpenFolder(path);
  if (!folder.valid()) return {.root = {}, .error = errno};
  const std::optional<uint64_t> id = MountIdOf(folder.get());
  const Result<std::vector<MountRow>> rows = ReadMountTable();
  if (!id || !rows.ok()) return {.root = {}, .error = ENOENT};
  for (const MountRow& row : *rows) {
    if (row.id != *id) continue;
    if (row.type == kUserOverlayType && overlays < kOverlaysMax) {
      const Result<std::string> lower = LowerOfUser(row, *rows);
      if (lower.ok()) return Look(*lower, overlays + 1);
      return {.root = {}, .error = lower.status().code() == Code::kPermission ? EACCES : 0};
    }
    if (IsFuse(row)) {
      return {.root = row.root == "/" ? TopOf(std::move(folder), *id) : WholeOf(row, *rows), .error = 0};
    }
    if (row.type != "overlay" || overlays == kOverlaysMax) break;
    for (const std::string& lower : LowerFolders(row.file_system_options)) {
      MountLook found = Look(lower, overlays + 1);
      if (found.root.valid()) return found;
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> LowerFolders(const std::string& options) {
  std::vector<std::string> words(1);
  for (size_t i = 0; i < options.size(); ++i) {
    if (options[i] == ',') {
      words.emplace_back();
      continue;
    }
    words.back() += options[i];
    if (options[i] == '\\' && i + 1 < options.size()) words.back() += options[++i];  // undone below
  }
  std::vector<std::string> folders;
  for (const std::string& word : words) {
    for (const std::string_view name : {"lowerdir=", "lowerdir+=", "datadir+="}) {
      if (!word.starts_with(name)) continue;
      folders.emplace_back();
      for (size_t i = name.size(); i < word.size(); ++i) {
        if (word[i] == ':') {
          folders.emplace_back();
        } else {
          if (word[i] == '\\' && i + 1 < word.size()) ++i;
          folders.back() += word[i];
        }
      }
    }
  }
  std::erase(folders, "");  // between the two colons before folders of data
  return folders;
}

MountLook MountOf(const std::string& path) { return Look(path, 0); }

}  // namespace augur
