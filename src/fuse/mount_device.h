// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mount_table.h"

namespace augur {

// The device number of a mounted file system, by which a mount of ours is known from others.
struct MountDevice {
  uint32_t major = 0;
  uint32_t minor = 0;
  bool operator==(const MountDevice&) const = default;
};

// Of a text like "0:45", as /proc/self/mountinfo has it.
std::optional<MountDevice> ParseMountDevice(const std::string& text);

// Whether one of the mounts is of this file system.
bool IsMounted(const std::vector<MountRow>& rows, const MountDevice& device);

}  // namespace augur
