// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace augur {

// Has freed memory given back to the system, so that a program which decodes stays in its budget. Before there are
// threads.
void KeepHeapSmall();

}  // namespace augur
