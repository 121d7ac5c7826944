// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/mount_table.h"

namespace augur {

// Whether the program that served this mount is gone. Asks the mount, and so waits for a program that is there. False
// also when it cannot be known: an ordinary user sees nothing of another one's mount.
bool IsDead(const MountRow& mount);

}  // namespace augur
