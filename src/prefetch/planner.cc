// SPDX-License-Identifier: Apache-2.0
#include "prefetch/planner.h"

#include <algorithm>
#include <utility>

namespace augur {

Planner::Planner(FileTable files, DiskModel& disk, const PlannerLimits& limits, const ReaderPositionOptions& progress)
    : limits_([&] {
        PlannerLimits with = limits;
        if (with.file_bytes_max == 0) with.file_bytes_max = limits.staging_bytes_max / 8;
        return with;
      }()),
      schedule_(std::move(files)),
      reader_(schedule_, progress),
      disk_(disk),
      regions_(schedule_, limits_.chunk_bytes_max) {}

void Planner::Append(const Order& order) {
  const bool idle = reader_.front() >= schedule_.end();
  const Position begin = schedule_.end();
  schedule_.Append(order);
  states_.resize(schedule_.slot_count());
  if (idle) {
    reader_.Restart(begin);
    fetch_ = begin;
    speed_.Restart();
  }
  ComputeAnew();
}

void Planner::Clear() {
  schedule_.Clear();
  reader_.Restart(schedule_.end());
  fetch_ = schedule_.end();
  fill_ = false;
  ComputeAnew();
}

void Planner::Fill(const Order& files) {
  schedule_.Meet(files);
  states_.resize(schedule_.slot_count());
  fill_ = true;
  arm_passed_ = 0;
}

std::vector<Order> Planner::Rest() const {
  std::vector<Order> orders;
  for (Position position = std::max(reader_.front(), schedule_.begin()); position < schedule_.end();) {
    Order& order = orders.emplace_back();
    for (const Position end = schedule_.EpochAround(position).second; position < end; ++position) {
      order.push_back(schedule_.FileOf(schedule_.At(position)));
    }
  }
  return orders;
}

void Planner::EndFill() {
  fill_ = false;
  ComputeAnew();
}

bool Planner::Resident(Slot slot) const {
  const State& state = states_[slot];
  return state.reading || state.held || state.pushing || Cached(slot) || kept_.Contains(slot);
}

bool Planner::TooLong(Slot slot) const {
  const FilePlace& place = schedule_.PlaceOf(slot);
  return std::max(place.bytes, place.record_bytes) > limits_.file_bytes_max;
}

Position Planner::NextUnread(Slot slot) const {
  Position use = schedule_.NextUse(slot, reader_.tail());
  while (use != kNever && reader_.WasRead(use)) use = schedule_.NextUse(slot, use + 1);
  return use;
}

Sight Planner::Saw(EntryNumber file, bool missed, uint64_t now_us) {
  const Slot slot = schedule_.SlotOf(file);
  if (slot == kNoSlot) return {};
  Count();
  const Position tail_before = reader_.tail();
  const ReaderPosition::Seen seen = reader_.See(slot, missed);
  const State& state = states_[slot];
  const bool near = seen.kind == ReaderPosition::Kind::kNew || seen.kind == ReaderPosition::Kind::kOld;
  const Sight sight = {.predicted = near,
                       .sentinel = near && IsSentinel(seen.position),
                       .ready = state.held || kept_.Contains(slot) || Cached(slot)};
  const bool passed = (seen.kind == ReaderPosition::Kind::kOld || seen.kind == ReaderPosition::Kind::kForeign) &&
                      seen.position < tail_before && seen.position >= schedule_.begin();
  if (missed && passed && !Cached(slot)) WaitLongerToDrop();
  if (missed && left_.Contains(slot)) FoundGone(slot);
  // It was pushed though no order was known, and is as good as passed.
  if (schedule_.epoch_count() == 0 && stocked_.Contains(slot) && !recent_.Contains(slot)) StillRead(slot);
  if (missed && limits_.stock_bytes_max > 0 && !state.pushing && !state.dropping) {
    // Its pages are in the page cache now, pushed or not.
    if (!stocked_.Contains(slot)) {
      // A reader that is just there keeps them until Passed; what is read elsewhere, or again, is as good as passed.
      const bool here = near && seen.position >= tail_before && reader_.front() < schedule_.end() &&
                        seen.position + reader_.options().lag >= reader_.front();
      stocked_.Add(slot, here ? seen.position : NextUnread(slot), Pages(schedule_.PlaceOf(slot).bytes));
      if (!here) StillRead(slot);
      if (state.held && NextUnread(slot) == kNever && !here) Release(slot);  // it will not be pushed any more
      Settle(slot);
    }
  }
  if (missed && state.pushing) states_[slot].brought = true;
  if (seen.kind == ReaderPosition::Kind::kJump) {
    ComputeAnew();
    fetch_ = reader_.front();
  } else {
    for (const Position at : reader_.TakePassed()) {
      if (at >= schedule_.begin() && at < schedule_.end()) Passed(schedule_.At(at));
    }
  }
  schedule_.PopBefore(reader_.base());
  speed_.Measure(reader_.front(), now_us);
  return sight;
}

// Puts the file where it belongs after something about it has changed: among those to push, if its bytes are there and
// not in the page cache; in the retained cache by the use that the page cache does not serve; back to those to read, if
// its bytes are nowhere.
void Planner::Settle(Slot slot) {
  const State& state = states_[slot];
  const bool kept = kept_.Contains(slot);
  const bool stocked = Cached(slot);
  const Position use = NextUnread(slot);
  const bool takeable = !state.pushing && !state.dropping && !state.unknown && !state.unpushable;
  if ((state.held || kept) && takeable && !stocked) {
    if (ready_.Contains(slot)) {
      ready_.Move(slot, ReadyKey(slot, use));
    } else {
      ready_.Add(slot, ReadyKey(slot, use), schedule_.PlaceOf(slot).bytes);
    }
  } else {
    ready_.Remove(slot);
  }
  if (kept) {
    const Position served = Sweeps() ? kNever : stocked ? CachedUse(slot) : state.pushing ? use : kNever;
    kept_.Move(slot, KeepKey(slot, served == kNever ? use : schedule_.NextUse(slot, served + 1)));
  }
  if (use != kNever && use < fetch_ && !Resident(slot)) fetch_ = use;
}

// The reader is done with a use of this file.
void Planner::Passed(Slot slot) {
  states_[slot].unpushable = false;
  states_[slot].asked = false;
  Leave(slot);
  if (states_[slot].held) {
    Release(slot);
  } else {
    Settle(slot);
  }
}

void Planner::LetGo(Slot slot) {
  states_[slot].held = false;
  held_bytes_ -= schedule_.PlaceOf(slot).bytes;
  --held_files_;
}

// Lets a file go from the staging.
void Planner::Release(Slot slot) {
  if (!states_[slot].held) return;
  LetGo(slot);
  released_.push_back(schedule_.FileOf(slot));
  Settle(slot);
}

// After a jump, or with another epoch: next uses are others.
void Planner::ComputeAnew() {
  arm_passed_ = 0;
  const auto next = [this](Slot slot) { return NextUnread(slot); };
  stocked_.MoveAll([&](Slot slot) { return recent_.Contains(slot) ? reader_.front() : next(slot); });
  left_.MoveAll(next);
  ready_.MoveAll([this](Slot slot) { return ReadyKey(slot, NextUnread(slot)); });
  kept_.MoveAll([this](Slot slot) {
    const Position use = NextUnread(slot);
    const bool served = use != kNever && !Sweeps() && (Cached(slot) || states_[slot].pushing);
    return KeepKey(slot, served ? schedule_.NextUse(slot, use + 1) : use);
  });
  for (Slot slot = 0; slot < states_.size(); ++slot) {
    State& state = states_[slot];
    state.asked = false;
    if (std::exchange(state.unpushable, false)) Settle(slot);
    if (state.held && !state.pushing && !fill_ && NextUnread(slot) == kNever) Release(slot);
  }
}

void Planner::SetSight(uint32_t sentinel_every, const ReaderPositionOptions& progress) {
  limits_.sentinel_every = sentinel_every;
  reader_.SetOptions(progress);
}

std::vector<EntryNumber> Planner::TakeReleased() { return std::exchange(released_, {}); }

PlannerGauges Planner::gauges() const {
  return {.epochs_queued = schedule_.epoch_count(),
          .position = reader_.front(),
          .end = schedule_.end(),
          .reads_under_way = reads_under_way_,
          .staging_bytes = held_bytes_ + reading_bytes_,
          .kept_bytes = kept_.bytes(),
          .stock_bytes = StockedBytes(),
          .left_bytes = left_.bytes(),
          .ready_files = ready_.count(),
          .sweeping = Sweeps(),
          .lost = reader_.lost()};
}

uint64_t Planner::TableBytes() const {
  return schedule_.slot_count() * kBytesPerFile + (schedule_.end() - schedule_.begin()) * kBytesPerRead +
         left_.count() * kBytesPerLeft;
}

}  // namespace augur
