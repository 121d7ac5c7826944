// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "diagnosis/machine_facts.h"

namespace augur {

// Looks at the machine: /proc, /sys, /etc/fuse.conf, /dev/fuse, PATH, and one io_uring that is closed again. Changes
// nothing. What cannot be read is left as MachineFacts has it. `root`: a folder in whose place of "/" the files are
// read, for tests; system calls ask the kernel that runs. One thread.
MachineFacts SurveyMachine(const std::string& root = "");

// The read-ahead of the mount with this device, "0:54"; 0: not told.
uint64_t ReadAheadOf(const std::string& device, const std::string& root = "");

}  // namespace augur
