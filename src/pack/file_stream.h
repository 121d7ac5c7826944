// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "pack/container_input.h"
#include "pack/read_ahead.h"

namespace augur {

// FileStream reads a file of this system ahead of its user. The descriptor is the caller's, stands at the beginning,
// and must outlive it. Memory: that of ReadAhead. One thread.
class FileStream final : public ContainerInput {
 public:
  FileStream(int fd, const std::string& name, std::function<bool()> stopped)
      : fd_(fd), ahead_(fd, name, std::move(stopped)) {}

  Result<std::span<const std::byte>> Next() override { return ahead_.Next(); }
  Status ReadAt(uint64_t offset, std::span<std::byte> out) override;

 private:
  const int fd_;
  ReadAhead ahead_;
};

}  // namespace augur
