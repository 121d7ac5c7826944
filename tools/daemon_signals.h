// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augur/status.h"
#include "base/unique_fd.h"
#include "fuse/holder_link.h"

namespace augur {

// Blocks the signals that speak to a daemon (TERM, INT, HUP, USR1) in this thread and all that it starts, so that one
// place reads them: the returned signalfd. Ignores SIGPIPE. A SIGBUS, which means that a page of a mapped file could
// not be read, is logged before the process dies of it. Before any thread.
Result<UniqueFd> TakeSignals();

// Those of them that end the mount, in a signalfd of their own. A signal comes to one that reads it first.
Result<UniqueFd> OpenStopSignals();

// Tells the Holder of a signal of which this process dies (SEGV, ABRT, BUS, ILL, FPE) before its core is written, which
// may take long. Otherwise it dies as without this. After TakeSignals, once.
void TellOfCrashes(const HolderLink& link);

// What signals have said.
struct HeardSignals {
  int end = 0;  // the one that ends the mount; of several the lowest; 0: none
  bool asks_statistics = false;
};

// All that are in it. Several that come together are read in the order of their numbers, whatever came first.
HeardSignals HearSignals(const UniqueFd& signals);

}  // namespace augur
