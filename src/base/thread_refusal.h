// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augur/status.h"

namespace augur {

// Why the system refuses a thread, with the cure: kNoSpace. `error` is the errno of pthread_create(3), which is EAGAIN
// for a limit of processes and for a stack that does not fit into the address space alike; which of them it is, is
// tried.
Status ThreadRefusal(int error);

}  // namespace augur
