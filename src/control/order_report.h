// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace augur {

// Whether the order in which a job reads is known.
struct OrderReport {
  enum class State {
    kKnown,      // its coming reads are predicted
    kSought,     // they are not, yet or any more
    kNotSought,  // nor of any other job, whichever reads: the text says why
    kEnded,      // the job has ended; this was known of it
  };
  uint64_t job = 0;  // as the daemon counts jobs; 0: of readers whose job is not known
  State state = State::kSought;
  int64_t since = 0;    // when it became known, seconds since 1970; 0: it is not known
  std::string text;     // the known order in words, or what keeps it from being known
  uint64_t files = 0;   // that the job has read so far, each epoch's
  uint32_t script = 0;  // the process whose workers read, in the daemon's pid namespace; 0: not known
};

// For augurctl, a JSON array: [{"job", "state": "known" | "sought" | "not sought" | "ended", "since", "text", "files",
// "script"}].
std::string RenderOrders(const std::vector<OrderReport>& orders);
// What RenderOrders made, of any version: what it does not have is as above. None: it is no such array.
std::vector<OrderReport> ParseOrders(std::string_view json);

}  // namespace augur
