// SPDX-License-Identifier: Apache-2.0
#include "base/file_lock.h"

#include <sys/file.h>

#include <cerrno>

namespace augur {

int LockFile(int fd, int operation) {
  while (::flock(fd, operation) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace augur
