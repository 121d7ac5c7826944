// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace augur {

// Processor time until one moment, in microseconds. Differences of two of them tell who uses the processors.
struct ProcessorUse {
  uint64_t machine_busy_us = 0;  // of all processors together
  uint64_t machine_all_us = 0;   // busy or not
  uint64_t daemon_us = 0;
  // The processes of the scripts that read: the script, and all below it.
  std::map<uint32_t, uint64_t> scripts;  // by process id
  std::map<uint32_t, uint64_t> workers;
};

// Reads /proc. `daemon`, `scripts`: process ids; 0, or one that is not there, is left out. `root`: another folder in
// tests. One thread.
ProcessorUse ReadProcessorUse(uint32_t daemon, const std::vector<uint32_t>& scripts, const std::string& root = "/proc");

}  // namespace augur
