// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/proc_text.h"
#include "base/unique_fd.h"

namespace augur {
namespace {

std::optional<std::string> ReadText(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  std::string text;
  char piece[4096];
  for (;;) {
    const ssize_t n = ::read(fd.get(), piece, sizeof(piece));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) return text;
    text.append(piece, static_cast<size_t>(n));
  }
}

bool Has(std::string_view comma_list, std::string_view word) {
  const auto words = Split(comma_list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// Nothing when the file is missing (the root cgroup, or no memory controller here) or says "max".
std::optional<uint64_t> NumberIn(const std::string& path) {
  const std::optional<std::string> text = ReadText(path);
  return text ? Number(*text) : std::nullopt;
}

// Value of line "name 123" (memory.stat, /proc/vmstat).
std::optional<uint64_t> FindStat(std::string_view text, std::string_view name) {
  for (const std::string_view line : Split(text, '\n')) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ' ') {
      return Number(line.substr(name.size() + 1));
    }
  }
  return std::nullopt;
}

// A mount of a hierarchy that may hold memory cgroups: cgroup `root` of it is seen at `point`.
struct CgroupMount {
  std::string root;
  std::string point;
  bool v2 = false;
};

// "31 23 0:28 ROOT POINT rw,relatime [fields] - TYPE SOURCE SUPER_OPTIONS"
std::optional<CgroupMount> ParseMount(std::string_view line) {
  const auto fields = Split(line, ' ');
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (fields.size() < 6 || fields.end() - dash < 4) return std::nullopt;
  const bool v2 = dash[1] == "cgroup2";
  if (!v2 && !(dash[1] == "cgroup" && Has(dash[3], "memory"))) return std::nullopt;
  return CgroupMount{.root = UnescapeMountField(fields[3]), .point = UnescapeMountField(fields[4]), .v2 = v2};
}

// Where in the mount the cgroup lies: "" or "/a/b". A process of a container that is not in a cgroup namespace is told
// its path from the host's root, while the mount begins at the container's: the common part is taken off. What is not
// below the root of the mount ("/../x" in a namespace, too) is not to be seen.
std::string PathBelow(const std::string& root, std::string_view cgroup) {
  const std::string prefix = root == "/" ? "" : root;
  if (!cgroup.starts_with(prefix)) return {};
  cgroup.remove_prefix(prefix.size());
  if (cgroup.empty() || cgroup == "/" || cgroup[0] != '/' || cgroup.starts_with("/..")) return {};
  return std::string(cgroup);
}

// Where this process is in one hierarchy.
struct OwnCgroup {
  bool known = false;
  std::string_view path;
};

struct OwnCgroups {
  OwnCgroup v1;  // in the one with the memory controller
  OwnCgroup v2;
};

// "4:memory:/path" of version 1, "0::/path" of version 2.
OwnCgroups ParseOwnCgroups(std::string_view text) {
  OwnCgroups own;
  for (const std::string_view line : Split(text, '\n')) {
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (Has(controllers, "memory")) own.v1 = {.known = true, .path = line.substr(second + 1)};
    if (controllers.empty()) own.v2 = {.known = true, .path = line.substr(second + 1)};
  }
  return own;
}

// This process's cgroup in the mount's hierarchy and all above it, those left out that are there.
void AddWithParents(const CgroupMount& mount, const OwnCgroups& own, std::vector<MemoryCgroup>& found) {
  const OwnCgroup& cgroup = mount.v2 ? own.v2 : own.v1;
  if (!cgroup.known) return;
  std::string path = PathBelow(mount.root, cgroup.path);
  while (true) {
    const MemoryCgroup item{.path = mount.point + path, .v2 = mount.v2};
    if (std::find(found.begin(), found.end(), item) == found.end()) found.push_back(item);
    if (path.empty()) return;
    path.resize(path.rfind('/'));
  }
}

}  // namespace

std::vector<MemoryCgroup> FindMemoryCgroups(std::string_view cgroup_text, std::string_view mountinfo_text) {
  const OwnCgroups own = ParseOwnCgroups(cgroup_text);
  std::vector<MemoryCgroup> found;
  for (const std::string_view line : Split(mountinfo_text, '\n')) {
    const std::optional<CgroupMount> mount = ParseMount(line);
    if (mount) AddWithParents(*mount, own, found);
  }
  return found;
}

std::optional<uint64_t> FindKilobytes(std::string_view text, std::string_view name) {
  for (std::string_view line : Split(text, '\n')) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    line.remove_prefix(name.size() + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::optional<uint64_t> kilobytes = Number(line);
    if (!kilobytes || !line.ends_with(" kB")) return std::nullopt;
    return *kilobytes * 1024;
  }
  return std::nullopt;
}

Result<MemoryRoom> MemoryRoomIn(std::string_view meminfo_text, const std::vector<MemoryCgroup>& cgroups) {
  const std::optional<uint64_t> total = FindKilobytes(meminfo_text, "MemTotal");
  const std::optional<uint64_t> available = FindKilobytes(meminfo_text, "MemAvailable");
  if (!total || !available) return Status(Code::kIo, "/proc/meminfo: no MemTotal or MemAvailable: mount /proc");
  MemoryRoom room{.total_bytes = *total, .available_bytes = std::min(*total, *available), .source = "the machine"};
  for (const MemoryCgroup& cgroup : cgroups) {
    const std::optional<uint64_t> limit =
        NumberIn(cgroup.path + (cgroup.v2 ? "/memory.max" : "/memory.limit_in_bytes"));
    if (!limit) continue;
    if (*limit < room.total_bytes) {
      room.total_bytes = *limit;
      room.source = "memory cgroup " + cgroup.path;
    }
    // File pages that were not used of late go when memory is needed, so they count as available, as in MemAvailable.
    const uint64_t used =
        NumberIn(cgroup.path + (cgroup.v2 ? "/memory.current" : "/memory.usage_in_bytes")).value_or(0);
    const std::string stat = ReadText(cgroup.path + "/memory.stat").value_or("");
    const uint64_t inactive = FindStat(stat, cgroup.v2 ? "inactive_file" : "total_inactive_file").value_or(0);
    const uint64_t held = used - std::min(used, inactive);
    room.available_bytes = std::min(room.available_bytes, *limit - std::min(*limit, held));
  }
  return room;
}

Result<MemoryRoom> MachineMemory() {
  const std::optional<std::string> meminfo = ReadText("/proc/meminfo");
  if (!meminfo) return Status(Code::kIo, "/proc/meminfo: cannot be read: mount /proc");
  // Without these two (a kernel without cgroups) there are none.
  const std::string cgroup = ReadText("/proc/self/cgroup").value_or("");
  const std::string mountinfo = ReadText("/proc/self/mountinfo").value_or("");
  return MemoryRoomIn(*meminfo, FindMemoryCgroups(cgroup, mountinfo));
}

// Written by fs/drop_caches.c.
std::optional<uint64_t> PageCacheDrops() {
  const std::optional<std::string> vmstat = ReadText("/proc/vmstat");
  return vmstat ? FindStat(*vmstat, "drop_pagecache") : std::nullopt;
}

Result<ProcessMemoryUse> ParseProcessStatus(std::string_view status_text) {
  const std::optional<uint64_t> anonymous = FindKilobytes(status_text, "RssAnon");
  const std::optional<uint64_t> shared = FindKilobytes(status_text, "RssShmem");
  const std::optional<uint64_t> file = FindKilobytes(status_text, "RssFile");
  if (!anonymous || !shared || !file) {
    return Status(Code::kIo, "/proc/self/status: no RssAnon, RssShmem or RssFile: Linux 4.5 or newer has them");
  }
  return ProcessMemoryUse{.anonymous_bytes = *anonymous, .shared_bytes = *shared, .file_bytes = *file};
}

Result<ProcessMemoryUse> ProcessMemory() {
  const std::optional<std::string> status = ReadText("/proc/self/status");
  if (!status) return Status(Code::kIo, "/proc/self/status: cannot be read: mount /proc");
  return ParseProcessStatus(*status);
}

}  // namespace augur
