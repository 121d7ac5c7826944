// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "prefetch/read_schedule.h"

namespace augur {

// Where the files of WarmFiles are at one moment.
struct WarmCount {
  uint64_t kept_files = 0;
  uint64_t kept_bytes = 0;
  uint64_t unreadable_files = 0;
  bool running = false;  // some are still to be read, or being read
};

// WarmFiles are the files that 'augurctl warm' wants in the retained cache, whether or not a use of them is predicted.
// Not synchronized; no I/O, no clock. Takes 4 bytes a file, and a bit for each file that the schedule has met.
class WarmFiles {
 public:
  // Wants these, in place of those before. REQUIRES: each once.
  void Begin(std::vector<Slot> files, uint32_t slot_count) {
    files_ = std::move(files);
    wanted_.assign(slot_count, false);
    for (const Slot slot : files_) wanted_[slot] = true;
    active_ = true;
  }
  // Wants none any more. The files can still be counted.
  void End() { active_ = false; }

  bool active() const { return active_; }
  // It is one of those that were wanted last; and wanted now.
  bool Has(Slot slot) const { return slot < wanted_.size() && wanted_[slot]; }
  bool Contains(Slot slot) const { return active_ && Has(slot); }
  const std::vector<Slot>& files() const { return files_; }

 private:
  std::vector<Slot> files_;
  std::vector<bool> wanted_;  // by slot
  bool active_ = false;
};

}  // namespace augur
