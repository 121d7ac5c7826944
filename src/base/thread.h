// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

#include "augur/status.h"

namespace augur {

// Of setpriority(2): the least share of a core that a thread of the ordinary class can have.
constexpr int kLowestNice = 19;

// Starts a thread that takes no signals (they belong to the program's main thread) and is called `name` in top(1),
// at most 15 bytes. kNoSpace: the machine or its container allows no more threads.
Result<std::thread> StartThread(const char* name, std::function<void()> body);

}  // namespace augur
