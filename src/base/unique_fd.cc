// SPDX-License-Identifier: Apache-2.0
#include "base/unique_fd.h"

#include <unistd.h>

namespace augur {

void UniqueFd::Reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

}  // namespace augur
