// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "fs/node.h"

namespace augur {

// As whose files a mount shows its files.
struct NodeOwner {
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t umask = 0;  // permission bits taken away from files and folders
};

struct NodeAttributes {
  NodeId node = 0;
  uint32_t mode = 0;  // type and permissions, the umask applied
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint64_t size = 0;  // bytes; of a directory: 0
  // Of an archive: the bytes of `size` that are stored, not made. Nothing: all are.
  std::optional<uint64_t> stored_bytes = {};
  bool read_in_pieces = false;  // of an archive: its readers take parts of it, by an index, and not the whole
  int64_t mtime_sec = 0;
  uint32_t mtime_nsec = 0;
  // False: the name has another node at the next lookup, so that it must not be remembered; the node stays as it is.
  bool lasting = true;
};

struct DirectoryItem {
  std::string_view name;
  NodeAttributes attributes;
  uint64_t next_offset = 0;  // where a listing goes on after this item; stable for ever
};

// Takes an item of a listing; false: the listing ends before it.
using TakeItem = std::function<bool(const DirectoryItem&)>;

}  // namespace augur
