// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "augur/store_writer.h"
#include "pack/container_input.h"

namespace augur {

// Permission bits of a file for whose record the container has none.
inline constexpr uint32_t kRecordFileMode = 0644;

// A file of many records that becomes a shard where it lies.
struct Container {
  ContainerInput& input;  // stands at the beginning
  std::string name;       // for messages; its last part may begin the names of files
  uint32_t shard = 0;     // its number in the writer
  uint64_t bytes = 0;
  int fd = -1;            // of a file of this machine, the caller's; -1: it is an object
  std::string path = {};  // of a file of this machine, beside which its names may lie; empty: it is an object
  Attributes attributes;  // of a file for whose record the container has none
};

}  // namespace augur
