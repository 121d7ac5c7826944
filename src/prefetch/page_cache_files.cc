// SPDX-License-Identifier: Apache-2.0
#include "prefetch/page_cache_files.h"

#include "base/check.h"

namespace augur {

bool PageCacheFiles::MayPush(Slot slot) const {
  const State& state = states_[slot];
  return !state.pushing && !state.dropping && !state.asking && !state.unknown && !state.unpushable && !Contains(slot);
}

void PageCacheFiles::BeginPush(Slot slot) {
  State& state = states_[slot];
  state.pushing = true;
  state.pushed_asked = state.asked;
  pushing_bytes_ += in_.PagesOf(slot);
}

bool PageCacheFiles::EndPush(Slot slot) {
  State& state = states_[slot];
  AUGUR_CHECK(state.pushing);
  state.pushing = false;
  pushing_bytes_ -= in_.PagesOf(slot);
  return std::exchange(state.brought, false);
}

void PageCacheFiles::BeginDrop(Slot slot) {
  states_[slot].dropping = true;
  states_[slot].assumed_cached = false;
  dropping_bytes_ += in_.PagesOf(slot);
}

void PageCacheFiles::EndDrop(Slot slot) {
  AUGUR_CHECK(states_[slot].dropping);
  states_[slot].dropping = false;
  dropping_bytes_ -= in_.PagesOf(slot);
}

bool PageCacheFiles::Refuse(Slot slot, PushOutcome outcome, bool once) {
  State& state = states_[slot];
  // A stat that ended after the push was begun was too late for it.
  state.unpushable = outcome == PushOutcome::kEnded || state.pushed_asked || once;
  state.unknown = outcome == PushOutcome::kUnknown && !state.unpushable;
  return state.unknown;
}

void PageCacheFiles::Statted(Slot slot) {
  State& state = states_[slot];
  state.asking = false;
  // One that was asked for ahead may be forgotten by the time of its push: it is asked for again then.
  if (std::exchange(state.unknown, false)) state.asked = true;
}

bool PageCacheFiles::ForgetRefusal(Slot slot) {
  states_[slot].asked = false;
  return std::exchange(states_[slot].unpushable, false);
}

}  // namespace augur
