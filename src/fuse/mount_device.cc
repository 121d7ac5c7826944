// SPDX-License-Identifier: Apache-2.0
#include "fuse/mount_device.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace augur {

std::optional<MountDevice> ParseMountDevice(const std::string& text) {
  MountDevice device;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, device.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != ':') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, device.minor);
  if (minor.ec != std::errc() || minor.ptr != end) return std::nullopt;
  return device;
}

bool IsMounted(const std::vector<MountRow>& rows, const MountDevice& device) {
  return std::ranges::any_of(rows, [&](const MountRow& row) { return ParseMountDevice(row.device) == device; });
}

}  // namespace augur
