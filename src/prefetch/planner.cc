// SPDX-License-Identifier: Apache-2.0
#include "prefetch/planner.h"

#include <algorithm>
#include <utility>

namespace augur {
namespace {

// The reader's speed is taken over at least this time.
constexpr uint64_t kMeasureUs = 100'000;
// A read of one file that takes longer than this may be one of those that cost the same when they are ten times as
// long.
constexpr double kDearUs = 4'000;
// A byte more costs the machine as much at least, whatever the disk does: it is read into memory, checked and copied.
// Where reads come one by one beside busy readers, the disk's model may take bytes for free.
constexpr double kMachineByteUs = 0.002;
// So many windows of the disk's model in turn must say that files should be read in the other way. One of them may say
// as much of the programs that start, or of who else has used the disk.
constexpr int kWindowsInTurn = 3;

}  // namespace

Planner::Planner(FileTable files, DiskModel& disk, const PlannerLimits& limits, const ReaderPositionOptions& progress)
    : limits_([&] {
        PlannerLimits with = limits;
        if (with.file_bytes_max == 0) with.file_bytes_max = limits.staging_bytes_max / 8;
        return with;
      }()),
      schedule_(std::move(files)),
      reader_(schedule_, progress),
      disk_(disk),
      regions_(schedule_, limits_.chunk_bytes_max),
      windows_in_turn_(disk.known() ? kWindowsInTurn - 1 : 0) {}  // the first window decides where the disk is known

void Planner::Append(const Order& order) {
  const bool idle = reader_.front() >= schedule_.end();
  const Position begin = schedule_.end();
  schedule_.Append(order);
  states_.resize(schedule_.slot_count());
  if (idle) {
    reader_.Restart(begin);
    fetch_ = begin;
    measured_since_us_ = 0;
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
  if (schedule_.epoch_count() == 0 && stocked_.Contains(slot) && state.being_read == 0) StillRead(slot);
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
  MeasureReader(now_us);
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
  stocked_.MoveAll([&](Slot slot) { return states_[slot].being_read > 0 ? reader_.front() : next(slot); });
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

void Planner::MeasureReader(uint64_t now_us) {
  const Position front = reader_.front();
  if (measured_since_us_ == 0 || front < measured_from_) {
    measured_since_us_ = now_us;
    measured_from_ = front;
    return;
  }
  const uint64_t passed_us = now_us - measured_since_us_;
  if (passed_us < kMeasureUs) return;
  const double speed = static_cast<double>(front - measured_from_) * 1e6 / static_cast<double>(passed_us);
  files_per_second_ = files_per_second_ == 0 ? speed : (files_per_second_ + speed) / 2;
  measured_since_us_ = now_us;
  measured_from_ = front;
}

// Whether another read costs much more than the bytes of a file: then what is wanted is read in regions of the disk,
// across what is not, and the retained cache holds it until it is needed. Not for a little more, and not to and fro:
// between the two bounds it stays as it is.
bool Planner::Sweeps() const { return sweeps_; }

void Planner::ChooseMode() {
  if (!disk_.known() || limits_.kept_bytes_max == 0) return;
  if (disk_.windows() == windows_seen_) return;
  windows_seen_ = disk_.windows();
  const bool otherwise = sweeps_ ? RegionsAreNotWorthIt() : RegionsMayBeWorthIt();
  windows_in_turn_ = otherwise ? windows_in_turn_ + 1 : 0;
  if (windows_in_turn_ < kWindowsInTurn) return;
  if (!sweeps_ && regions_.used()) windows_to_try_ *= 2;
  sweeps_ = !sweeps_;
  mode_windows_ = disk_.windows();
  windows_in_turn_ = 0;
  ComputeAnew();
}

// So much may be read and thrown away rather than begin another read.
uint64_t Planner::WorthGap() const {
  return std::min(disk_.free_gap_bytes(), static_cast<uint64_t>(disk_.read_us() / kMachineByteUs));
}

// As long as all reads are of about one size, nobody can say whether it is the reads or the bytes that take so long:
// what the model says of longer ones is a guess. So where single files take long, regions are tried whatever it says.
// But where they were tried, and brought no more than single files do, they are not tried again for a while.
bool Planner::RegionsMayBeWorthIt() const {
  const uint64_t file = schedule_.mean_bytes();
  const bool tried = regions_.used() && disk_.windows() < mode_windows_ + windows_to_try_;
  if (tried) return std::min(WorthGap(), disk_.tried_gap_bytes()) > 3 * file;
  return WorthGap() > 3 * file || disk_.CostUs(1, file) >= kDearUs;
}

// A region takes as much longer than a file as it is longer: that is seen at once. That another way to reckon says so
// is not enough while regions are new.
bool Planner::RegionsAreNotWorthIt() const {
  const uint64_t file = schedule_.mean_bytes();
  if (2 * disk_.tried_gap_bytes() < 3 * file) return true;
  return regions_.settled() && 2 * WorthGap() < 3 * file;
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
