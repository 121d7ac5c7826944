// SPDX-License-Identifier: Apache-2.0
#include "fuse/read_ahead.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "base/units.h"

namespace augur {

Status SetReadAhead(const std::string& device, uint64_t bytes) {
  const std::string path = "/sys/class/bdi/" + device + "/read_ahead_kb";
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, path);
  const std::string text = std::to_string(bytes / kKiB);
  if (write(file.get(), text.data(), text.size()) < 0) return ErrnoStatus(errno, path);
  return Status::Ok();
}

}  // namespace augur
