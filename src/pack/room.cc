// SPDX-License-Identifier: Apache-2.0
#include "pack/room.h"

#include <sys/statvfs.h>

#include <cerrno>

#include "base/units.h"

namespace augur {

Result<Room> Room::Of(const std::string& store, bool unlimited) {
  if (unlimited) return Room(store, UINT64_MAX);
  struct statvfs disk = {};
  if (::statvfs(store.c_str(), &disk) != 0) return ErrnoStatus(errno, Printable(store));
  // Some network file systems do not know.
  const bool known = disk.f_blocks > 0;
  return Room(store, known ? static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize : UINT64_MAX);
}

Status Room::Check(uint64_t bytes, const std::string& source) const {
  if (bytes <= free_bytes_) return {};
  return {Code::kNoSpace, Printable(store_) + ": there is room for " + FormatSize(free_bytes_) + ", and " +
                              Printable(source) + " has at least " + FormatSize(bytes) +
                              ": choose another disk, free some, or begin all the same with --no-room-check (files "
                              "with the same bytes are stored once)"};
}

}  // namespace augur
