// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augur/status.h"

namespace augur {

// Why the system refuses a thread, with the cure: kNoSpace. `error` is the errno of pthread_create(3). That is EAGAIN
// for a limit of processes and for a stack that does not fit into the address space alike. The function tries which of
// them it is.
Status ThreadRefusal(int error);

}  // namespace augur
