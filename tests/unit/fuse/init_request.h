// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/fuse.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace augur {

constexpr uint32_t kInitExt = 1U << 30;  // FUSE_INIT_EXT: there is a second word of flags

// FUSE_INIT as a kernel with these flags sends it.
inline std::vector<std::byte> Init(uint32_t flags, uint32_t flags2) {
  fuse_in_header header{};
  header.len = sizeof header + sizeof(fuse_init_in);
  header.opcode = FUSE_INIT;
  fuse_init_in arguments{};
  arguments.flags = flags;
  arguments.flags2 = flags2;
  std::vector<std::byte> bytes(header.len);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &arguments, sizeof arguments);
  return bytes;
}

}  // namespace augur
