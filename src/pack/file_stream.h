// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "pack/read_ahead.h"
#include "pack/tar_input.h"

namespace augur {

// FileStream reads a file of this system ahead of its user. The descriptor is the caller's, stands at the beginning,
// and must outlive it. Memory: that of ReadAhead. One thread.
class FileStream final : public TarInput {
 public:
  FileStream(int fd, const std::string& name, std::function<bool()> stopped)
      : fd_(fd), ahead_(fd, name, std::move(stopped)) {}

  Result<std::span<const std::byte>> Next() override { return ahead_.Next(); }
  Status ReadAgain(uint64_t offset, std::span<std::byte> out) override;

 private:
  const int fd_;
  ReadAhead ahead_;
};

}  // namespace augur
