// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/render.h"
#include "control/statistics.h"

namespace augur {

// What is known of the order in which a job reads.
struct OrderReport {
  enum class State {
    kKnown,      // its coming reads are predicted
    kSought,     // they are not, yet or any more
    kNotSought,  // nor of any other job, whichever reads: the text says why
    kEnded,      // the job has ended; this was known of it
  };
  uint64_t job = 0;  // as the daemon counts jobs; 0: of readers whose job is not known
  State state = State::kSought;
  int64_t since = 0;  // when it became known, seconds since 1970; 0: it is not known
  std::string text;   // what is known, or what keeps it from being known
};

struct StatusScreen {
  Facts facts;                      // of the mount: names that it does not know are left out
  std::vector<OrderReport> orders;  // running jobs first
  bool predicts = true;             // false: this mount does not work out orders; it may be given one
  bool prefetches = true;           // false: nor does it read ahead
  int64_t now = 0;                  // seconds since 1970
};

// One screen for people. Its first line says whether the order is known, of which job, since when, and what that gave;
// then come the other jobs, those that have ended, and the numbers that matter, with units that people read. Bytes from
// names are made printable.
std::string RenderStatus(const StatusScreen& screen, const StatisticsSnapshot& snapshot);

// "40 us", "0.3 ms", "12.0 s", "4 min 28 s", "3 h 5 min".
std::string FormatDuration(uint64_t microseconds);

}  // namespace augur
