// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "prefetch/page_sink.h"
#include "prefetch/planner_input.h"
#include "prefetch/use_queue.h"

namespace augur {

// PageCacheFiles knows which files the page cache should have. These are pushed ones, among them those that a READ
// brought in and whose reader is not done with them, and those that were read and are left for reuse. It also remembers
// what the kernel said to pushes. Not synchronized. A method with a slot requires that Meet has seen it.
class PageCacheFiles {
 public:
  explicit PageCacheFiles(const PlannerInput& in) : in_(in) {}
  // The schedule knows more files.
  void Meet() { states_.resize(in_.schedule.slot_count()); }

  bool Contains(Slot slot) const { return pushed_.Contains(slot) || reusable_.Contains(slot); }
  // The use for which the page cache has it. REQUIRES: contained.
  Position UseOf(Slot slot) const { return reusable_.Contains(slot) ? reusable_.UseOf(slot) : pushed_.UseOf(slot); }
  UseQueue& pushed() { return pushed_; }
  const UseQueue& pushed() const { return pushed_; }
  UseQueue& reusable() { return reusable_; }
  const UseQueue& reusable() const { return reusable_; }
  uint64_t pushing_bytes() const { return pushing_bytes_; }
  uint64_t dropping_bytes() const { return dropping_bytes_; }
  // Of pushed files, and of those that are being pushed or dropped.
  uint64_t window_bytes() const { return pushed_.bytes() + pushing_bytes_ + dropping_bytes_; }

  bool IsPushing(Slot slot) const { return states_[slot].pushing; }
  bool IsDropping(Slot slot) const { return states_[slot].dropping; }
  // False: it is there, or on its way, or the kernel refuses it for now.
  bool MayPush(Slot slot) const;
  void BeginPush(Slot slot);
  // True: a READ has brought the file in meanwhile.
  bool EndPush(Slot slot);
  // A READ has brought the file in. REQUIRES: it is being pushed.
  void BringIn(Slot slot) { states_[slot].brought = true; }
  void BeginDrop(Slot slot);
  void EndDrop(Slot slot);

  // The push that has just ended was refused. `once`: the file is not worth a stat. True: it waits for Statted; else it
  // is not pushed until ForgetRefusal.
  bool Refuse(Slot slot, PushOutcome outcome, bool once);
  // The kernel is being asked for the file, ahead of its push, which waits for Statted.
  void BeginStat(Slot slot) { states_[slot].asking = true; }
  // The kernel was asked for the file, and should know it now.
  void Statted(Slot slot);
  bool IsUnpushable(Slot slot) const { return states_[slot].unpushable; }
  // The next use is another one. True: the file was not to be pushed until now.
  bool ForgetRefusal(Slot slot);

  // The file is in reusable() by assumption only, until TakeAssumed. Returns whether it was.
  void SetAssumed(Slot slot) { states_[slot].assumed_cached = true; }
  bool TakeAssumed(Slot slot) { return std::exchange(states_[slot].assumed_cached, false); }

 private:
  struct State {
    bool pushing = false;
    bool brought = false;  // by a READ meanwhile
    bool dropping = false;
    bool asking = false;        // the kernel, before it has refused anything: waits for Statted
    bool unknown = false;       // to the kernel: waits for Statted
    bool asked = false;         // Statted after that
    bool pushed_asked = false;  // ... before the push under way was begun
    bool unpushable = false;    // the kernel does not know it even after that
    bool assumed_cached = false;
  };

  const PlannerInput& in_;
  std::vector<State> states_;  // by slot
  UseQueue pushed_;
  UseQueue reusable_;
  uint64_t pushing_bytes_ = 0;
  uint64_t dropping_bytes_ = 0;
};

}  // namespace augur
