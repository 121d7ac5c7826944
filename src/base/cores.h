// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace augur {

// The cores that this process may run on, at least 1: those that taskset, a batch system or a container's cpuset leave
// to it, not all that the machine has. A quota of processor time is not one of cores and is not counted.
unsigned UsableCores();
// Their numbers, ascending; none where the kernel does not say.
std::vector<unsigned> UsableCoreNumbers();
// From now on the calling thread runs on this one of them. False: it may not, and runs where it did.
bool StayOnCore(unsigned core);

}  // namespace augur
