// SPDX-License-Identifier: Apache-2.0
#include "prefetch/reader_pages.h"

#include <algorithm>
#include <vector>

namespace augur {

uint64_t ReaderPages::reusable_bytes_max() const {
  return evidence_.Reclaims(recent_.seen()) ? 0 : in_.limits.reusable_bytes_max;
}

// The readers of files that were asked for some time ago have them by now.
void ReaderPages::Count() {
  recent_.Count();
  for (const Slot slot : recent_.TakeDone(in_.reader.options().lag)) {
    if (in_.limits.push_window_bytes_max == 0) {
      AddAssumed(slot);
      files_.Release(slot);
    }
    if (!files_.pages().pushed().Contains(slot)) continue;
    LeaveForReuse(slot);
    // A file that is not left for reuse is dropped soon, and the retained cache need not give way for such a short
    // time.
    if (files_.pages().reusable().Contains(slot)) files_.Reclassify(slot);
  }
}

void ReaderPages::OnAccess(Slot slot, bool missed, Position here) {
  PageCacheFiles& pages = files_.pages();
  if (missed && pages.reusable().Contains(slot)) FoundGone(slot);
  // It was pushed though no order was known, and is as good as passed.
  if (in_.schedule.epochs().empty() && pages.pushed().Contains(slot) && !recent_.Contains(slot)) StillRead(slot);
  if (!missed) return;
  if (pages.IsPushing(slot)) return pages.BringIn(slot);
  if (in_.limits.push_window_bytes_max == 0 || pages.IsDropping(slot) || pages.pushed().Contains(slot)) return;
  // A reader that is just there keeps the pages until Passed. A file that is read elsewhere, or again, is as good as
  // passed, and is not pushed any more.
  const Position next = in_.NextUnread(slot);
  pages.pushed().Add(slot, here != kNever ? here : next, in_.PagesOf(slot));
  if (here == kNever) {
    StillRead(slot);
    if (next == kNever) files_.Release(slot);
  }
  files_.Reclassify(slot);
}

// Without this each file would be read when its reader waits for it: on a disk a seek each, from a server a round trip.
void ReaderPages::Missed(Slot slot, Position use) {
  UseQueue& pushed = files_.pages().pushed();
  if (!pushed.Contains(slot) || pushed.UseOf(slot) != use || !evidence_.PushedIsGone(use)) return;
  if (use >= read_again_to_) read_again_to_ = std::max(read_again_to_, PushedAreGone(use));
}

// Those for a use after this one count as being there no longer. Returns the place behind the last of them; 0: none.
Position ReaderPages::PushedAreGone(Position after) {
  UseQueue& pushed = files_.pages().pushed();
  std::vector<Slot> gone;
  Position end = 0;
  for (const auto& [next, file] : pushed.in_order()) {
    if (next <= after || next == kNever) continue;
    gone.push_back(file);
    end = std::max(end, next + 1);
  }
  for (const Slot file : gone) {
    pushed.Remove(file);
    files_.Reclassify(file);
  }
  return end;
}

void ReaderPages::SetEmptied(bool emptied) {
  if (!emptied) return evidence_.Confirm();
  evidence_.Emptied();
  PageCacheFiles& pages = files_.pages();
  while (!pages.reusable().empty()) {
    const Slot file = pages.reusable().last().second;
    pages.TakeAssumed(file);
    pages.reusable().Remove(file);
    files_.Reclassify(file);
  }
  // What readers are just copying is not dropped.
  PushedAreGone(in_.reader.front());
}

void ReaderPages::TakeBrought(Slot slot) {
  PageCacheFiles& pages = files_.pages();
  if (pages.Contains(slot)) return;
  pages.pushed().Add(slot, in_.NextUnread(slot), in_.PagesOf(slot));
  StillRead(slot);
}

// The file has been asked for, in no order that is known. Were its pages dropped for something else before its reader
// has got the processor to copy them, the reader would ask again: seen 8,900 times in a row on a busy machine.
void ReaderPages::StillRead(Slot slot) {
  files_.pages().pushed().Move(slot, in_.reader.front());
  recent_.Add(slot);
}

// Not the pages of a sentinel, which is to be missed at its next use.
void ReaderPages::LeaveForReuse(Slot slot) {
  PageCacheFiles& pages = files_.pages();
  const Position use = in_.NextUnread(slot);
  if (pages.reusable().Contains(slot)) {
    if (pages.TakeAssumed(slot)) evidence_.AssumedIsThere();
    return pages.reusable().Move(slot, use);
  }
  if (!pages.pushed().Contains(slot)) return;
  const uint64_t bytes = in_.PagesOf(slot);
  const bool sentinel = use != kNever && in_.IsSentinel(use);
  if (sentinel || !HasRoomFor(bytes)) return pages.pushed().Move(slot, use);
  pages.pushed().Remove(slot);
  pages.reusable().Add(slot, use, bytes);
}

bool ReaderPages::HasRoomFor(uint64_t bytes) const {
  return files_.pages().reusable().bytes() + bytes <= reusable_bytes_max() &&
         files_.TableBytes() + FileStates::kBytesPerReusable <= in_.limits.table_bytes_max;
}

// A READ under way still needs the bytes, and it is not told when it has them. What its reader is just asking for is
// reusable then.
void ReaderPages::AssumeCached(Slot slot) {
  const bool waits = in_.limits.push_window_bytes_max == 0;
  if (!waits || !in_.reader.IsBeingRead(slot)) AddAssumed(slot);
  if (waits) recent_.Add(slot);
}

// Not where sentinels are needed: they are to be missed.
void ReaderPages::AddAssumed(Slot slot) {
  PageCacheFiles& pages = files_.pages();
  if (in_.limits.sentinel_every > 0 || pages.Contains(slot)) return;
  const uint64_t bytes = in_.PagesOf(slot);
  if (bytes == 0 || !HasRoomFor(bytes)) return;
  pages.reusable().Add(slot, in_.NextUnread(slot), bytes);
  pages.SetAssumed(slot);
  files_.Reclassify(slot);
}

// The file was reusable, and is not there.
void ReaderPages::FoundGone(Slot slot) {
  files_.pages().reusable().Remove(slot);
  if (files_.pages().TakeAssumed(slot)) {
    if (evidence_.AssumedIsGone()) ForgetAssumed();
    return;
  }
  const uint64_t place = !in_.schedule.epochs().empty() ? in_.reader.front() : recent_.seen();
  evidence_.ReusableIsGone(place, recent_.seen(), in_.schedule.slot_count());
}

// Such files were not read whole, or the kernel has given their pages away.
void ReaderPages::ForgetAssumed() {
  for (Slot slot = 0; slot < in_.schedule.slot_count(); ++slot) {
    if (!files_.pages().TakeAssumed(slot)) continue;
    files_.pages().reusable().Remove(slot);
    files_.Reclassify(slot);
  }
}

std::optional<Slot> ReaderPages::TakeExcess() {
  PageCacheFiles& pages = files_.pages();
  // A little at a time: files that are being dropped count as pushed.
  if (pages.reusable().bytes() <= reusable_bytes_max() || pages.dropping_bytes() > PlannerInput::kDropAheadBytes)
    return std::nullopt;
  const Slot last = pages.reusable().last().second;
  pages.reusable().Remove(last);
  return last;
}

void ReaderPages::ComputeUsesAnew() {
  const auto next = [this](Slot slot) { return in_.NextUnread(slot); };
  files_.pages().pushed().MoveAll([&](Slot slot) { return recent_.Contains(slot) ? in_.reader.front() : next(slot); });
  files_.pages().reusable().MoveAll(next);
}

}  // namespace augur
