// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"

namespace augur {

// What memory this process may use: the machine's, or less where a memory cgroup (a container, a systemd unit, a batch
// job) allows less.
struct MemoryRoom {
  uint64_t total_bytes = 0;      // the limit
  uint64_t available_bytes = 0;  // of it, what could be used now without swapping or an end by the kernel
  std::string source;            // what gives the limit: "the machine" or "memory cgroup /path"
};

// Looks at /proc and at every memory cgroup of this process that can be seen from here. A container that does not show
// its cgroups leaves the machine's memory. kIo: /proc is not mounted.
Result<MemoryRoom> MachineMemory();

// How often the kernel was told to drop its whole page cache (/proc/sys/vm/drop_caches), since it was started. Nothing:
// /proc/vmstat cannot be read, or does not say.
std::optional<uint64_t> PageCacheDrops();

// The resident memory of this process. `anonymous` and `shared` are what a memory limit is for; `file` is mapped files,
// which the kernel takes back when it needs to.
struct ProcessMemoryUse {
  uint64_t anonymous_bytes = 0;  // RssAnon
  uint64_t shared_bytes = 0;     // RssShmem: tmpfs and shared anonymous memory
  uint64_t file_bytes = 0;       // RssFile
};

// kIo: /proc is not mounted, or an old kernel (before 4.5) does not tell them apart.
Result<ProcessMemoryUse> ProcessMemory();

// The parts of the above that take text or a folder, for tests.

// A folder with the control files of one memory cgroup.
struct MemoryCgroup {
  std::string path;
  bool v2 = false;
  bool operator==(const MemoryCgroup&) const = default;
};

// The memory cgroups that limit a process, its own first, then those above up to the top of the mount, from the content
// of /proc/self/cgroup and /proc/self/mountinfo. Where a cgroup is out of the mount's view (a container's), the mount's
// own top is taken.
std::vector<MemoryCgroup> FindMemoryCgroups(std::string_view cgroup_text, std::string_view mountinfo_text);

// The number of bytes of line "NAME: 123 kB" (/proc/meminfo, /proc/self/status); nothing when there is no such line.
std::optional<uint64_t> FindKilobytes(std::string_view text, std::string_view name);

// The machine's memory, cut down to what each of `cgroups` allows; one without readable limits changes nothing. kIo:
// `meminfo_text` lacks MemTotal or MemAvailable.
Result<MemoryRoom> MemoryRoomIn(std::string_view meminfo_text, const std::vector<MemoryCgroup>& cgroups);

// kIo: a line is missing.
Result<ProcessMemoryUse> ParseProcessStatus(std::string_view status_text);

}  // namespace augur
