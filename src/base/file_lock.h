// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace augur {

// flock(2), once more where a signal interrupts it: on a network also with LOCK_NB. 0, or its errno.
int LockFile(int fd, int operation);

}  // namespace augur
