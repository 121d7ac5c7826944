// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// SpoolFile is a temporary file without a name, for what grows with the tree and must not stay in memory. It is gone
// with its owner, however the process ends.
// Every call is safe from any thread. Written by pwrite and not through a mapping, so that a full disk is an error
// and not a SIGBUS.
class SpoolFile {
 public:
  // In folder `folder`. kNoSpace, kPermission, kIo: the system refuses, with the folder's name.
  static Result<std::unique_ptr<SpoolFile>> Make(const std::string& folder);

  // A place of `bytes` for the caller alone.
  uint64_t Reserve(uint64_t bytes) { return end_.fetch_add(bytes); }
  // Writes all of `bytes` at `offset`, within what the caller has reserved. kNoSpace, kIo.
  Status Write(uint64_t offset, std::span<const std::byte> bytes);
  // Fills `bytes` from `offset` on; returns how many there were before the end.
  Result<size_t> Read(uint64_t offset, std::span<std::byte> bytes) const;

  int fd() const { return fd_.get(); }
  uint64_t bytes() const { return end_; }

 private:
  SpoolFile(std::string folder, UniqueFd fd) : folder_(std::move(folder)), fd_(std::move(fd)) {}
  const std::string folder_;  // for messages
  const UniqueFd fd_;
  std::atomic<uint64_t> end_ = 0;
};

}  // namespace augur
