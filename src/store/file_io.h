// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "augur/status.h"

namespace augur {

// Whole reads and writes of a file at an offset, for writers. `path` is for messages.

// Writes every byte. A full disk is kNoSpace.
Status WriteAt(int fd, const std::string& path, std::span<const std::byte> bytes, uint64_t offset);

// Reads exactly bytes.size() bytes. kCorrupt when the file ends before.
Status ReadAt(int fd, const std::string& path, std::span<std::byte> bytes, uint64_t offset);

// Waits until the data of the file, and the metadata that it takes to find them again, are on disk.
Status SyncFile(int fd, const std::string& path);

}  // namespace augur
