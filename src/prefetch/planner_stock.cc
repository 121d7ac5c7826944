// SPDX-License-Identifier: Apache-2.0
#include "prefetch/planner.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

// What the planner pushes into the page cache, and drops from it.

namespace augur {
namespace {

// Memory is handed out in pieces of this (BufferPool::kGranuleBytes).
constexpr uint64_t kMemoryPiece = 64 << 10;
// What is this near to the reader is not pushed any more.
constexpr Position kPushMargin = 2;
constexpr double kPushMarginSeconds = 0.002;
// Where reads are dear, files are pushed so long before they are read, or so many of them.
constexpr double kPushAheadSeconds = 0.1;
constexpr Position kPushAheadMin = 128;
// Files are dropped before their room is needed: while the last of them are dropped, the next are pushed.
constexpr uint64_t kDropAhead = 8 << 20;

}  // namespace

// Whether the page cache has room for a file, beside what is on the way there, or holds one that is needed later.
bool Planner::StockTakes(Position use, uint64_t bytes) const {
  if (limits_.stock_bytes_max == 0) return false;
  if (use != kNever && use > PushEnd()) return false;
  const uint64_t there = StockedBytes();
  const uint64_t coming = held_bytes_ + wanted_bytes_;
  const uint64_t wanted = there + coming + Pages(bytes);
  // What nobody is known to need puts nothing out, and what NextPush would not take would be held for ever.
  if (use == kNever) return wanted + kPage * held_files_ + StockAside() <= StockMax();
  if (wanted <= StockMax()) return true;
  return stocked_.LastBytes(wanted - StockMax(), [this](Position late) { return late > StockEnd(); });
}

// The stock's bytes. Where the page cache holds everything, those of the retained cache as well, which then needs few.
// Where reads are dear the retained cache has most of them, and afterwards what it has not given back yet.
uint64_t Planner::StockMax() const {
  if (PagesHoldAll()) {
    return limits_.stock_bytes_max + limits_.kept_bytes_max - std::min(limits_.kept_bytes_max, kept_.bytes());
  }
  const uint64_t over = kept_.bytes() - std::min(kept_.bytes(), limits_.kept_bytes_max);
  return limits_.stock_bytes_max - (Sweeps() ? limits_.lent_bytes_max : std::min(over, limits_.lent_bytes_max));
}

// The page cache holds what is read from the front to here, beside what the reader may still be reading. No more than
// has room: what is read too early would have the place of what comes before it.
Position Planner::StockEnd() const {
  // In regions: what comes too early waits in the retained cache anyway.
  if (Sweeps()) return reader_.front() + StockMax() / schedule_.mean_bytes();
  const uint64_t files = (StockMax() - StockAside()) / MeanPages();
  return reader_.front() + files - std::min<uint64_t>(files, reader_.options().lag);
}

// Pushed is what is read from the front to here. Where reads are dear that is little: the kernel may reclaim what waits
// in the page cache before it is read, and to read it again would cost as much as a whole region. So the retained cache
// holds it as well until it was read.
Position Planner::PushEnd() const {
  if (!Sweeps() || !speed_.known()) return StockEnd();
  return std::min(StockEnd(), reader_.front() + std::max(kPushAheadMin, speed_.FilesIn(kPushAheadSeconds)));
}

// Without stock the staging holds what is read from the front to here, each file in memory of its own. Were it to hold
// what is read later too, the next file might find no room until the reader has asked for it himself.
Position Planner::StagingEnd() const {
  return reader_.front() + limits_.staging_bytes_max / (schedule_.mean_bytes() + kMemoryPiece);
}

// Left free for what readers bring in by themselves, until the reader is past it and it can be dropped.
uint64_t Planner::StockAside() const {
  return std::min(StockMax() / 4, uint64_t{2} * reader_.options().lag * MeanPages());
}

// A reader that maps its files (DALI) opens one and touches its pages a thousand files later. For a quarter of the page
// cache's window at most: it is taken from what is ahead.
void Planner::WaitLongerToDrop() {
  if (!reads_of_dropped_.Count(reader_.front())) return;
  ReaderPositionOptions options = reader_.options();
  const uint64_t most = StockMax() / MeanPages() / 4;
  options.lag =
      static_cast<uint32_t>(std::max<uint64_t>(options.lag, std::min<uint64_t>(2 * uint64_t{options.lag}, most)));
  reader_.SetOptions(options);
}

// One more read was seen: the readers of files that were asked for some time ago have them by now.
void Planner::Count() {
  recent_.Count();
  while (const std::optional<Slot> slot = recent_.TakeDone(reader_.options().lag)) {
    if (!stocked_.Contains(*slot)) continue;
    Leave(*slot);
    // What is not left is about to be dropped, and the retained cache need not give way for so short a time.
    if (left_.Contains(*slot)) Settle(*slot);
  }
}

// The file has been asked for, in no order that is known. Were its pages dropped for something else before its reader
// has got the processor to copy them, he would ask again: seen 8,900 times in a row on a busy machine.
void Planner::StillRead(Slot slot) {
  stocked_.Move(slot, reader_.front());
  recent_.Add(slot);
}

// The reader is done with the file for now. Its pages stay in the page cache where the machine has room for them beside
// the window: the next use finds them there. But not those of a sentinel, which is to be missed by then.
void Planner::Leave(Slot slot) {
  const Position use = NextUnread(slot);
  if (left_.Contains(slot)) {
    if (std::exchange(states_[slot].assumed, false)) evidence_.AssumedIsThere();
    return left_.Move(slot, use);
  }
  if (!stocked_.Contains(slot)) return;
  const uint64_t bytes = Pages(schedule_.PlaceOf(slot).bytes);
  const bool sentinel = use != kNever && IsSentinel(use);
  if (sentinel || !HasRoomToLeave(bytes)) return stocked_.Move(slot, use);
  stocked_.Remove(slot);
  left_.Add(slot, use, bytes);
}

bool Planner::HasRoomToLeave(uint64_t bytes) const {
  return left_.bytes() + bytes <= LeftMax() && TableBytes() + kBytesPerLeft <= limits_.table_bytes_max;
}

// Not where sentinels are needed: they are to be missed.
void Planner::WasRead(EntryNumber file) {
  const Slot slot = schedule_.SlotOf(file);
  if (slot == kNoSlot || limits_.stock_bytes_max == 0 || limits_.sentinel_every > 0 || Cached(slot)) return;
  const uint64_t bytes = Pages(schedule_.PlaceOf(slot).bytes);
  if (bytes == 0 || !HasRoomToLeave(bytes)) return;
  left_.Add(slot, NextUnread(slot), bytes);
  states_[slot].assumed = true;
  Settle(slot);
}

// The files were not read whole, or the kernel has given their pages away.
void Planner::AssumeNothing() {
  for (Slot slot = 0; slot < states_.size(); ++slot) {
    if (!std::exchange(states_[slot].assumed, false)) continue;
    left_.Remove(slot);
    Settle(slot);
  }
}

// What is left beyond what there is room for, a little at a time: meanwhile the drops count as the stock's.
std::optional<Slot> Planner::NextNotLeft() {
  if (left_.bytes() <= LeftMax() || dropping_bytes_ > kDropAhead) return std::nullopt;
  const Slot last = left_.last().second;
  left_.Remove(last);
  return last;
}

// It is there once, and need not be in our memory too: on a virtual machine that gets its memory from the host page by
// page, another copy may take longer than the read. Where a region was read for it, it is no memory to count on.
bool Planner::PagesHoldAll() const {
  const bool regions = Sweeps() && schedule_.epoch_count() > 0;
  return limits_.stock_bytes_max > 0 && !regions && LeftMax() >= limits_.data_bytes;
}

// The file was left, and is not there.
void Planner::FoundGone(Slot slot) {
  left_.Remove(slot);
  if (std::exchange(states_[slot].assumed, false)) {
    if (evidence_.AssumedIsGone()) AssumeNothing();
    return;
  }
  const uint64_t place = schedule_.epoch_count() > 0 ? reader_.front() : recent_.seen();
  evidence_.LeftIsGone(place, recent_.seen(), schedule_.slot_count());
}

bool Planner::IsSentinel(Position position) const {
  return limits_.sentinel_every > 0 && position % limits_.sentinel_every == limits_.sentinel_every - 1;
}

// The file that is needed soonest of those that could be pushed, by its ReadyKey; kNoSlot when there is none.
std::pair<Position, Slot> Planner::FirstToPush() const {
  // What is read within the next 2 ms comes too late: the kernel would have to wait for pages that a READ holds, and
  // the reader for pages that are half there.
  // A reader that has not begun yet is waited for.
  const Position margin = speed_.known() ? kPushMargin + speed_.FilesIn(kPushMarginSeconds) : 0;
  const Position push_end = PushEnd();
  const auto& order = ready_.in_order();
  for (auto at = order.lower_bound({reader_.front() + margin, 0}); at != order.end(); ++at) {
    const bool predicted = at->first < kHeldNever;
    if (at->first > push_end && (predicted || !fill_)) break;
    if (!predicted || !IsSentinel(at->first)) return *at;
  }
  return {kNever, kNoSlot};
}

std::optional<PushPlan> Planner::NextPush() {
  if (limits_.stock_bytes_max == 0) return std::nullopt;
  const auto [use, slot] = FirstToPush();
  if (slot == kNoSlot) return std::nullopt;
  const uint64_t bytes = Pages(schedule_.PlaceOf(slot).bytes);
  // What readers have brought in since it was taken up has the place that was left aside for that.
  const uint64_t aside = use == kHeldNever ? 0 : StockAside();
  if (StockedBytes() + bytes > StockMax() - aside) return std::nullopt;
  states_[slot].pushing = true;
  states_[slot].pushed_asked = states_[slot].asked;
  pushing_bytes_ += bytes;
  Settle(slot);
  return PushPlan{.file = schedule_.FileOf(slot), .bytes = schedule_.PlaceOf(slot).bytes};
}

KeepPlan Planner::Pushed(EntryNumber file, PushOutcome outcome) {
  const Slot slot = schedule_.SlotOf(file);
  AUGUR_CHECK(slot != kNoSlot);
  State& state = states_[slot];
  AUGUR_CHECK(state.pushing);
  state.pushing = false;
  const bool brought = std::exchange(state.brought, false);
  const uint64_t bytes = schedule_.PlaceOf(slot).bytes;
  pushing_bytes_ -= Pages(bytes);
  if (outcome != PushOutcome::kPushed) {
    if (brought) TakeBrought(slot);
    // What nobody is known to need is not worth a stat, where the retained cache takes it as well. A stat that ended
    // after the push was begun was too late for it.
    const bool unpredicted = NextUnread(slot) == kNever;
    state.unpushable =
        outcome == PushOutcome::kEnded || state.pushed_asked || (unpredicted && !(fill_ && PagesHoldAll()));
    state.unknown = outcome == PushOutcome::kUnknown && !state.unpushable;
    KeepPlan plan;
    if (state.held && unpredicted && !state.unknown) {
      if (fill_) plan = PlanKeep(slot, kNever);
      // Its open may be told before its READ comes, which needs it now that it is not in the page cache.
      if (plan.keep) {
        LetGo(slot);
      } else if (!reader_.IsBeingRead(slot)) {
        Release(slot);
      }
    }
    Settle(slot);
    return plan;
  }
  const Position use = NextUnread(slot);
  if (!Cached(slot)) stocked_.Add(slot, use, Pages(bytes));
  KeepPlan plan;
  if (!kept_.Contains(slot)) {
    plan = PlanKeep(slot, use == kNever || Sweeps() ? use : schedule_.NextUse(slot, use + 1));
  }
  Settle(slot);
  if (state.held) {
    LetGo(slot);
    if (!plan.keep) released_.push_back(file);
  }
  return plan;
}

// A READ has brought in the pages of a file while it was pushed, in vain: they are there all the same.
void Planner::TakeBrought(Slot slot) {
  if (Cached(slot)) return;
  stocked_.Add(slot, NextUnread(slot), Pages(schedule_.PlaceOf(slot).bytes));
  StillRead(slot);
}

void Planner::PushLost(EntryNumber file) {
  const Slot slot = schedule_.SlotOf(file);
  AUGUR_CHECK(slot != kNoSlot && states_[slot].pushing);
  states_[slot].pushing = false;
  const bool brought = std::exchange(states_[slot].brought, false);
  pushing_bytes_ -= Pages(schedule_.PlaceOf(slot).bytes);
  kept_.Remove(slot);
  if (brought) TakeBrought(slot);
  Settle(slot);
}

std::vector<EntryNumber> Planner::Upcoming(size_t count) const {
  std::vector<EntryNumber> files;
  const Position begin = std::max(reader_.front(), schedule_.begin());
  const Position end = std::min(schedule_.end(), begin + count);
  for (Position position = begin; position < end; ++position) {
    const Slot slot = schedule_.At(position);
    if (!Cached(slot)) files.push_back(schedule_.FileOf(slot));
  }
  return files;
}

void Planner::Statted(EntryNumber file) {
  const Slot slot = schedule_.SlotOf(file);
  if (slot == kNoSlot) return;
  states_[slot].unknown = false;
  states_[slot].asked = true;
  Settle(slot);
}

// Drops what is needed last, for something that is needed sooner and has no room; and when there is too much at all, as
// the kernel puts in what readers ask for.
std::optional<Slot> Planner::NextNotStocked() {
  if (stocked_.empty()) return std::nullopt;
  const uint64_t ahead = std::min(kDropAhead, StockMax() / 8);
  if (stocked_.bytes() + pushing_bytes_ + ahead + StockAside() <= StockMax()) return std::nullopt;
  // Never what is read in this same window: it would push out its own end.
  auto [last_use, last] = stocked_.last();
  if (last_use <= StockEnd()) {
    // But what was to be read long ago, and was not seen to be, is likely not read any more: an open was not reported,
    // or somebody else's reads have moved the front. Four times the lag, as workers are behind each other, and as far
    // as readers may be apart where that is little of the window.
    const auto [first_use, first] = stocked_.soonest();
    const uint64_t apart = std::min<uint64_t>(reader_.options().spread_max, StockMax() / MeanPages() / 8);
    if (first_use + std::max<Position>(Position{4} * reader_.options().lag, apart) < reader_.front()) {
      last_use = kNever;
      last = first;
    } else {
      // Or what is read next has come late, and those behind it have taken its place. Where reads are dear, one of
      // them that the retained cache has as well: it is pushed again later, and nothing is read for it.
      const auto [use, slot] = FirstToPush();
      const Position front = reader_.front();
      const bool far = last_use > front && last_use - front > 2 * (use - front);
      if (slot == kNoSlot || !far || (Sweeps() && !kept_.Contains(last))) return std::nullopt;
    }
  }
  if (stocked_.bytes() + pushing_bytes_ <= StockMax()) {
    const auto [use, slot] = FirstToPush();
    if (slot == kNoSlot || use >= kHeldNever || last_use <= use) return std::nullopt;
  }
  stocked_.Remove(last);
  return last;
}

std::optional<EntryNumber> Planner::NextDrop() {
  std::optional<Slot> slot = NextNotLeft();
  if (!slot) slot = NextNotStocked();
  if (!slot) return std::nullopt;
  Drop(*slot);
  return schedule_.FileOf(*slot);
}

void Planner::Drop(Slot slot) {
  states_[slot].dropping = true;
  states_[slot].assumed = false;
  dropping_bytes_ += Pages(schedule_.PlaceOf(slot).bytes);
  Settle(slot);
}

void Planner::Dropped(EntryNumber file) {
  const Slot slot = schedule_.SlotOf(file);
  AUGUR_CHECK(slot != kNoSlot && states_[slot].dropping);
  states_[slot].dropping = false;
  dropping_bytes_ -= Pages(schedule_.PlaceOf(slot).bytes);
  Settle(slot);
}

std::vector<EntryNumber> Planner::TakeStocked() {
  std::vector<EntryNumber> files;
  for (UseQueue* pages : {&stocked_, &left_}) {
    while (!pages->empty()) {
      const Slot slot = pages->last().second;
      files.push_back(schedule_.FileOf(slot));
      pages->Remove(slot);
      Drop(slot);
    }
  }
  return files;
}

}  // namespace augur
