// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "augur/status.h"

namespace augur {

// A second of UTC. All times that AWS sends or signs are of this kind.
using UtcTime = std::chrono::sys_seconds;
// The present second. A test gives its own.
using UtcClock = std::function<UtcTime()>;

// By the clock of this machine. Safe from any thread.
UtcTime UtcNow();

// "20130524T000000Z", as a signature has it. The first 8 bytes are the day. REQUIRES: a year of 4 digits.
std::string AmzDate(UtcTime time);

// "2013-05-24T00:00:00Z", for messages. REQUIRES: a year of 4 digits.
std::string IsoTime(UtcTime time);

// Reads the time of an answer: "2013-05-24T00:00:00", a fraction that is dropped, and "Z", "+00:00" or "+0000".
// kInvalid: anything else, which the text repeats.
Result<UtcTime> ParseIsoTime(std::string_view text);

}  // namespace augur
