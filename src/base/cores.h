// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace augur {

// The cores that this process may run on, at least 1: those that taskset, a batch system or a container's cpuset leave
// to it, not all that the machine has. A quota of processor time is not one of cores and is not counted.
unsigned UsableCores();

}  // namespace augur
