// SPDX-License-Identifier: Apache-2.0
#include "prefetch/staging.h"

#include <algorithm>

#include "base/check.h"

namespace augur {

void Staging::Begin(const ReadPlan& read) {
  for (const ReadPlan::Item& item : read.items) {
    states_[schedule_.SlotOf(item.file)].reading = true;
    wanted_bytes_ += item.place.bytes;
    rendering_bytes_ += item.place.rendering_bytes();
  }
  reading_bytes_ += read.bytes;
  ++reads_under_way_;
}

void Staging::PutBack(const ReadPlan& read) {
  for (const ReadPlan::Item& item : read.items) {
    states_[schedule_.SlotOf(item.file)].reading = false;
    wanted_bytes_ -= item.place.bytes;
    rendering_bytes_ -= item.place.rendering_bytes();
  }
  End(read);
}

void Staging::End(const ReadPlan& read) {
  reading_bytes_ -= read.bytes;
  --reads_under_way_;
}

void Staging::Arrive(const ReadPlan::Item& item, bool ok) {
  const Slot slot = schedule_.SlotOf(item.file);
  AUGUR_CHECK(slot != kNoSlot && states_[slot].reading);
  State& state = states_[slot];
  state.reading = false;
  state.bad = !ok;
  state.failures = ok ? 0 : static_cast<uint8_t>(std::min(state.failures + 1, int{kTriesMax}));
  wanted_bytes_ -= item.place.bytes;
  rendering_bytes_ -= item.place.rendering_bytes();
}

void Staging::Hold(Slot slot) {
  states_[slot].held = true;
  held_bytes_ += schedule_.PlaceOf(slot).bytes;
  ++held_files_;
}

void Staging::LetGo(Slot slot) {
  AUGUR_CHECK(states_[slot].held);
  states_[slot].held = false;
  held_bytes_ -= schedule_.PlaceOf(slot).bytes;
  --held_files_;
}

void Staging::Release(Slot slot) {
  LetGo(slot);
  released_.push_back(schedule_.FileOf(slot));
}

}  // namespace augur
