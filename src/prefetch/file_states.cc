// SPDX-License-Identifier: Apache-2.0
#include "prefetch/file_states.h"

#include <algorithm>

namespace augur {

void FileStates::Meet() {
  staging_.Meet();
  pages_.Meet();
  deadlines_.Resize(in_.schedule.slot_count());
}

uint64_t FileStates::TableBytes() const {
  const ReadSchedule& schedule = in_.schedule;
  return schedule.slot_count() * kBytesPerFile + (schedule.end() - schedule.begin()) * EpochOrder::kBytesPerRead +
         pages_.reusable().count() * kBytesPerReusable;
}

bool FileStates::IsResident(Slot slot) const {
  return staging_.IsReading(slot) || staging_.Holds(slot) || pages_.IsPushing(slot) || pages_.Contains(slot) ||
         retained_.Contains(slot);
}

// A second READ for one use finds what the first has brought.
MissCause FileStates::CauseOf(Slot slot, Position position, bool first) const {
  if (in_.IsSentinel(position)) return MissCause::kSentinel;
  if (pages_.Contains(slot)) return first ? MissCause::kReclaimed : MissCause::kNone;
  if (staging_.Holds(slot) || retained_.Contains(slot)) return MissCause::kNotPushed;
  if (in_.IsTooLong(slot)) return MissCause::kTooLong;
  return staging_.IsReading(slot) ? MissCause::kUnderWay : MissCause::kNotBegun;
}

Position FileStates::NextMissing() {
  const ReadSchedule& schedule = in_.schedule;
  missing_from_ = std::max({missing_from_, in_.reader.front(), schedule.begin()});
  for (; missing_from_ < schedule.end(); ++missing_from_) {
    const Slot slot = schedule.At(missing_from_);
    if (!IsResident(slot) && !staging_.IsBad(slot) && !in_.IsTooLong(slot) && !in_.reader.WasRead(missing_from_)) {
      return missing_from_;
    }
  }
  return kNever;
}

// Puts the file where it belongs after something about it has changed: among those to push, if its bytes are there and
// not in the page cache; in the retained cache by the use that the page cache does not serve; back to those to read, if
// its bytes are nowhere.
void FileStates::Reclassify(Slot slot) {
  const bool retained = retained_.Contains(slot);
  const Position use = in_.NextUnread(slot);
  if (!(staging_.Holds(slot) || retained) || !pages_.MayPush(slot)) {
    ready_.Remove(slot);
  } else if (ready_.Contains(slot)) {
    ready_.Move(slot, ReadyKey(slot, use));
  } else {
    ready_.Add(slot, ReadyKey(slot, use), in_.schedule.PlaceOf(slot).bytes);
  }
  if (retained) {
    const bool cached = pages_.Contains(slot);
    retained_.Move(slot, RetainedKey(slot, use, cached ? pages_.UseOf(slot) : pages_.IsPushing(slot) ? use : kNever));
  }
  if (use != kNever && use < missing_from_ && !IsResident(slot)) missing_from_ = use;
}

Position FileStates::ReadyKey(Slot slot, Position use) const {
  return use == kNever && staging_.Holds(slot) ? kHeldNever : use;
}

// By the use for which the retained cache should have the file: the one after that which the page cache serves. Where
// regions are read the page cache is not counted on.
Position FileStates::RetainedKey(Slot slot, Position use, Position served) const {
  const bool later = served != kNever && !in_.mode.in_regions();
  return deadlines_.Key(slot, later ? in_.schedule.NextUse(slot, served + 1) : use);
}

void FileStates::Release(Slot slot) {
  if (!staging_.Holds(slot)) return;
  staging_.Release(slot);
  Reclassify(slot);
}

void FileStates::ComputeUsesAnew() {
  ready_.MoveAll([this](Slot slot) { return ReadyKey(slot, in_.NextUnread(slot)); });
  retained_.MoveAll([this](Slot slot) {
    const Position use = in_.NextUnread(slot);
    return RetainedKey(slot, use, pages_.Contains(slot) || pages_.IsPushing(slot) ? use : kNever);
  });
  for (Slot slot = 0; slot < in_.schedule.slot_count(); ++slot) {
    const bool tried_again = staging_.TryAgain(slot);
    if (pages_.ForgetRefusal(slot) || tried_again) Reclassify(slot);
    if (staging_.Holds(slot) && !pages_.IsPushing(slot) && !in_.fill && in_.NextUnread(slot) == kNever) Release(slot);
  }
}

}  // namespace augur
