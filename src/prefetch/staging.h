// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "prefetch/plans.h"
#include "prefetch/read_schedule.h"

namespace augur {

// Staging counts the memory of files that are being read, or were read and are neither pushed nor kept yet (held). Not
// synchronized. It has no bytes: the prefetcher has them. A method with a slot requires that Meet has seen it.
class Staging {
 public:
  // A bad sector may hold the disk for seconds each time. One that takes ten seconds costs a run 80 s at most.
  static constexpr uint8_t kTriesMax = 8;

  explicit Staging(const ReadSchedule& schedule) : schedule_(schedule) {}
  // The schedule knows more files.
  void Meet() { states_.resize(schedule_.slot_count()); }

  bool IsReading(Slot slot) const { return states_[slot].reading; }
  bool Holds(Slot slot) const { return states_[slot].held; }
  // The file could not be read: it is left to its readers until TryAgain or TryAnew.
  bool IsBad(Slot slot) const { return states_[slot].bad; }
  // A disk or a network may bring later what it does not bring now. The next use of the file is another one: for that
  // it is read ahead again, unless kTriesMax reads of it have failed in turn. True: it was bad until now.
  bool TryAgain(Slot slot) {
    const bool again = states_[slot].bad && states_[slot].failures < kTriesMax;
    if (again) states_[slot].bad = false;
    return again;
  }
  // 'augurctl warm' asks for the file: whatever has failed before, it is read.
  void TryAnew(Slot slot) {
    states_[slot].bad = false;
    states_[slot].failures = 0;
  }

  uint64_t held_bytes() const { return held_bytes_; }
  uint64_t held_files() const { return held_files_; }
  uint64_t reading_bytes() const { return reading_bytes_; }
  // Of reads under way, and of files that are rendered from their records.
  uint64_t coming_bytes() const { return reading_bytes_ + rendering_bytes_; }
  // Of files that are being read or rendered, without the gaps between them.
  uint64_t wanted_bytes() const { return wanted_bytes_; }
  uint32_t reads_under_way() const { return reads_under_way_; }

  // The read is under way. Then PutBack, or End and an Arrive for each file.
  void Begin(const ReadPlan& read);
  void PutBack(const ReadPlan& read);
  void End(const ReadPlan& read);
  void Arrive(const ReadPlan::Item& item, bool ok);

  // REQUIRES: not held.
  void Hold(Slot slot);
  // REQUIRES of both: held. The prefetcher lets the file go by itself, or is told to.
  void LetGo(Slot slot);
  void Release(Slot slot);
  // Files that Release was called for since the last call.
  std::vector<EntryNumber> TakeReleased() { return std::exchange(released_, {}); }

 private:
  struct State {
    bool reading = false;
    bool held = false;
    bool bad = false;
    uint8_t failures = 0;  // since the last read that brought it
  };

  const ReadSchedule& schedule_;
  std::vector<State> states_;  // by slot
  uint64_t held_bytes_ = 0;
  uint64_t held_files_ = 0;
  uint64_t reading_bytes_ = 0;
  uint64_t rendering_bytes_ = 0;  // of files whose records are being read, or are there
  uint64_t wanted_bytes_ = 0;
  uint32_t reads_under_way_ = 0;
  std::vector<EntryNumber> released_;
};

}  // namespace augur
