// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_read.h"

#include <cstring>
#include <utility>

namespace augur {

void FleetRead::AddPart(std::vector<size_t> values) {
  parts_.push_back({.values = std::move(values)});
  const MutexLock lock(mu_);
  ++open_;
}

uint64_t FleetRead::PartBytes(size_t part) const {
  uint64_t bytes = 0;
  for (const size_t value : values(part)) bytes += wanted_[value].key.size;
  return bytes;
}

bool FleetRead::IsOpen(size_t part) const {
  const MutexLock lock(mu_);
  return parts_[part].open;
}

void FleetRead::Take(size_t part, size_t value, std::span<const std::byte> bytes) {
  if (!IsOpen(part) || !is_right_(value, bytes)) return;
  const MutexLock lock(mu_);
  if (!parts_[part].open) return;
  std::memcpy(wanted_[value].into, bytes.data(), bytes.size());
  found_[value] = true;
}

bool FleetRead::End(size_t part) {
  std::vector<bool> found;
  {
    const MutexLock lock(mu_);
    if (!std::exchange(parts_[part].open, false)) return false;
    if (--open_ > 0) return true;
    found = found_;
  }
  std::exchange(done_, nullptr)(found);
  return true;
}

}  // namespace augur
