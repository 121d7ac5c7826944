// SPDX-License-Identifier: Apache-2.0
#include "prefetch/planner.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace augur {
namespace {

constexpr uint64_t kPage = 4096;
// Memory is handed out in pieces of this (BufferPool::kGranuleBytes).
constexpr uint64_t kMemoryPiece = 64 << 10;

// Added to the next use of what the warehouse may put out before anything else.
constexpr Position kUnprotected = Position{1} << 40;
// How far ahead things are kept when reads are dear, in tenths of the memory. What a visit to a tile brings for a
// horizon of H reads stays for H / 2 on average, so a memory of M reads has room for H = 2 M; a tenth less, as it does
// not come evenly.
constexpr uint64_t kHorizonTenths = 18;
// What is this near to the reader is not pushed any more.
constexpr Position kPushMargin = 2;
constexpr double kPushMarginSeconds = 0.002;
constexpr uint64_t kTileMin = 256 << 10;
uint64_t Pages(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Reads that are not urgent stay this far behind what the disk can do, so that a demand read that comes now waits
// about so long for them: the kernel takes reads in their order.
constexpr double kUnderWayUs = 50'000;
// What is needed within this time, or within so many files, is read by itself; the rest as the disk likes it best.
constexpr double kUrgentSeconds = 0.25;
constexpr Position kUrgentFilesMin = 32;
// An urgent read takes no more along than this: at 150 MB/s it makes it 7 ms longer.
constexpr uint64_t kUrgentChunkMax = 1 << 20;
// How far the arm looks at once, so that a decision stays short: 20 us or so.
constexpr uint32_t kArmSteps = 2048;
// The reader's speed is taken over at least this time.
constexpr uint64_t kMeasureUs = 100'000;
// Files are dropped before their room is needed: while the last of them are dropped, the next are pushed.
constexpr uint64_t kDropAhead = 8 << 20;
// So many reads, in so many places of the front, of what was dropped behind the reader: he is not done with it so soon.
constexpr uint64_t kReadsOfDropped = 16;
constexpr Position kDroppedPlaces = 1024;

}  // namespace

Planner::Planner(FileTable files, const PlannerLimits& limits, const ProgressOptions& progress)
    : limits_([&] {
        PlannerLimits with = limits;
        if (with.file_bytes_max == 0) with.file_bytes_max = limits.conveyor_bytes_max / 8;
        return with;
      }()),
      track_(std::move(files)),
      progress_(track_, progress) {}

void Planner::Append(const Order& order) {
  const bool idle = progress_.front() >= track_.end();
  const Position begin = track_.end();
  track_.Append(order);
  states_.resize(track_.slot_count());
  if (idle) {
    progress_.Restart(begin);
    fetch_ = begin;
    measured_since_us_ = 0;
  }
  ComputeAnew();
}

void Planner::Clear() {
  track_.Clear();
  progress_.Restart(track_.end());
  fetch_ = track_.end();
  fill_ = false;
  ComputeAnew();
}

void Planner::Fill(const Order& files) {
  track_.Meet(files);
  states_.resize(track_.slot_count());
  fill_ = true;
}

void Planner::EndFill() {
  fill_ = false;
  ComputeAnew();
}

bool Planner::Resident(Slot slot) const {
  const State& state = states_[slot];
  return state.reading || state.held || state.pushing || stocked_.Contains(slot) || kept_.Contains(slot);
}

bool Planner::TooLong(Slot slot) const { return track_.PlaceOf(slot).bytes > limits_.file_bytes_max; }

Position Planner::NextUnread(Slot slot) const {
  Position use = track_.NextUse(slot, progress_.tail());
  while (use != kNever && progress_.WasRead(use)) use = track_.NextUse(slot, use + 1);
  return use;
}

// Whether the warehouse has room for a file, or holds another that is needed later. Not for one that is needed just a
// little later: they would push each other out in turn.
bool Planner::KeepTakes(Position use, uint64_t bytes) const {
  const bool dear = Sweeps();
  if (dear && use != kNever && use > progress_.front() + Horizon()) return false;
  if (Pages(bytes) > limits_.kept_bytes_max) return false;
  // What is being read counts as if all of it were to be kept: else many reads would be begun for the same room.
  const uint64_t wanted = kept_.bytes() + reading_bytes_ + Pages(bytes);
  if (wanted <= limits_.kept_bytes_max) return true;
  return kept_.LastBytes(wanted - limits_.kept_bytes_max, [&](Position late) {
    return dear ? late >= kUnprotected && use < late : MuchLater(late, use);
  });
}

// How many reads ahead the memory is to hold what a visit to a tile brings.
Position Planner::Horizon() const {
  return (limits_.kept_bytes_max + limits_.stock_bytes_max) * kHorizonTenths / 10 / track_.mean_bytes();
}

// By what the warehouse puts files out: the last use first. When reads are dear, what a visit brought is protected
// until the next visit to its tile; what is used after that can be brought by that visit.
Position Planner::KeepKey(Slot slot, Position use) const {
  if (use == kNever || !Sweeps() || use <= states_[slot].deadline) return use;
  return use + kUnprotected;
}

// Whether the page cache has room for a file, beside what is on the way there, or holds one that is needed later.
bool Planner::StockTakes(Position use, uint64_t bytes) const {
  if (limits_.stock_bytes_max == 0) return false;
  if (use != kNever && use > StockEnd()) return false;
  const uint64_t there = stocked_.bytes() + pushing_bytes_ + dropping_bytes_;
  const uint64_t coming = held_bytes_ + reading_bytes_;
  const uint64_t wanted = there + coming + Pages(bytes);
  // What nobody is known to need puts nothing out, and what NextPush would not take would be held for ever.
  if (use == kNever) return wanted + kPage * ready_.count() + StockAside() <= limits_.stock_bytes_max;
  if (wanted <= limits_.stock_bytes_max) return true;
  return stocked_.LastBytes(wanted - limits_.stock_bytes_max, [this](Position late) { return late > StockEnd(); });
}

// Whether it is worth putting out what is used at `late` for what is used at `soon`.
bool Planner::MuchLater(Position late, Position soon) const {
  if (late == kNever || soon == kNever) return soon != kNever;
  const Position front = progress_.front();
  return late > front && late - front > 2 * (std::max(soon, front) - front) + kUrgentFilesMin;
}

// The page cache holds what is read from the front to here, beside what the reader may still be reading. No more than
// has room: what is read too early would have the place of what comes before it.
Position Planner::StockEnd() const {
  // In tiles: what comes too early waits in the warehouse anyway.
  if (Sweeps()) return progress_.front() + limits_.stock_bytes_max / track_.mean_bytes();
  const uint64_t file_bytes = std::max(kPage, track_.mean_bytes() + kPage / 2);
  const uint64_t files = (limits_.stock_bytes_max - StockAside()) / file_bytes;
  return progress_.front() + files - std::min<uint64_t>(files, progress_.options().lag);
}

// Without stock the conveyor holds what is read from the front to here, each file in memory of its own. Were it to hold
// what is read later too, the next file might find no room until the reader has asked for it himself.
Position Planner::ConveyorEnd() const {
  return progress_.front() + limits_.conveyor_bytes_max / (track_.mean_bytes() + kMemoryPiece);
}

// Left free for what readers bring in by themselves, until the reader is past it and it can be dropped.
uint64_t Planner::StockAside() const {
  return std::min(limits_.stock_bytes_max / 4, uint64_t{2} * progress_.options().lag * track_.mean_bytes());
}

// Whether a file that is read now has somewhere to go.
bool Planner::Takes(Position use, uint64_t bytes) const {
  // Without stock, what is held waits for the reader's own READ.
  if (limits_.stock_bytes_max == 0 && use != kNever && use <= ConveyorEnd()) return true;
  if (StockTakes(use, bytes)) return true;
  // Where reads are cheap, what is not needed soon can as well be read later: a way through the warehouse would cost
  // another copy. It is kept after it was pushed, for the next epoch.
  return (Sweeps() || use == kNever) && KeepTakes(use, bytes);
}

bool Planner::Wanted(Slot slot) const {
  if (track_.PlaceOf(slot).bytes == 0) return false;  // an empty file has nothing to read
  if (states_[slot].bad || TooLong(slot)) return false;
  const Position use = NextUnread(slot);
  // What only the page cache has may be gone from there unseen: a fill brings it too.
  const bool only_stocked = stocked_.Contains(slot) && !states_[slot].reading && !states_[slot].held &&
                            !states_[slot].pushing && !kept_.Contains(slot);
  if (only_stocked && fill_ && use == kNever) return KeepTakes(use, track_.PlaceOf(slot).bytes);
  if (Resident(slot)) return false;
  if (use == kNever && !fill_) return false;
  if (use == kNever && states_[slot].unpushable) return KeepTakes(use, track_.PlaceOf(slot).bytes);
  return Takes(use, track_.PlaceOf(slot).bytes);
}

Sight Planner::Saw(EntryNumber file, bool missed, uint64_t now_us) {
  const Slot slot = track_.SlotOf(file);
  if (slot == kNoSlot) return {};
  const Position tail_before = progress_.tail();
  const Progress::Seen seen = progress_.See(slot, missed);
  const State& state = states_[slot];
  const bool near = seen.kind == Progress::Kind::kNew || seen.kind == Progress::Kind::kOld;
  const Sight sight = {.foreseen = near,
                       .sentinel = near && IsSentinel(seen.position),
                       .ready = state.held || kept_.Contains(slot) || stocked_.Contains(slot)};
  const bool passed = (seen.kind == Progress::Kind::kOld || seen.kind == Progress::Kind::kForeign) &&
                      seen.position < tail_before && seen.position >= track_.begin();
  if (missed && passed && !stocked_.Contains(slot)) WaitLongerToDrop();
  if (missed && limits_.stock_bytes_max > 0 && !state.pushing && !state.dropping) {
    // Its pages are in the page cache now, pushed or not.
    if (!stocked_.Contains(slot)) {
      // A reader that is just there keeps them until Passed; what is read elsewhere, or again, is as good as passed.
      const bool here = near && seen.position >= tail_before && progress_.front() < track_.end() &&
                        seen.position + progress_.options().lag >= progress_.front();
      stocked_.Add(slot, here ? seen.position : NextUnread(slot), Pages(track_.PlaceOf(slot).bytes));
      if (state.held && NextUnread(slot) == kNever && !here) Release(slot);  // it will not be pushed any more
      Settle(slot);
    }
  }
  if (seen.kind == Progress::Kind::kJump) {
    ComputeAnew();
    fetch_ = progress_.front();
  } else {
    for (const Position at : progress_.TakePassed()) {
      if (at >= track_.begin() && at < track_.end()) Passed(track_.At(at));
    }
  }
  track_.PopBefore(progress_.tail());
  MeasureReader(now_us);
  return sight;
}

// A reader that maps its files (DALI) opens one and touches its pages a thousand files later. For a quarter of the page
// cache's window at most: it is taken from what is ahead.
void Planner::WaitLongerToDrop() {
  if (progress_.front() > dropped_since_ + kDroppedPlaces || progress_.front() < dropped_since_) {
    dropped_since_ = progress_.front();
    reads_of_dropped_ = 0;
  }
  if (++reads_of_dropped_ < kReadsOfDropped) return;
  reads_of_dropped_ = 0;
  ProgressOptions options = progress_.options();
  const uint64_t most = limits_.stock_bytes_max / track_.mean_bytes() / 4;
  options.lag =
      static_cast<uint32_t>(std::max<uint64_t>(options.lag, std::min<uint64_t>(2 * uint64_t{options.lag}, most)));
  progress_.SetOptions(options);
}

// Puts the file where it belongs after something about it has changed: among those to push, if its bytes are there and
// not in the page cache; in the warehouse by the use that the page cache does not serve; back to those to read, if its
// bytes are nowhere.
void Planner::Settle(Slot slot) {
  const State& state = states_[slot];
  const bool kept = kept_.Contains(slot);
  const bool stocked = stocked_.Contains(slot);
  const Position use = NextUnread(slot);
  if ((state.held || kept) && !state.pushing && !stocked && !state.dropping) {
    if (ready_.Contains(slot)) {
      ready_.Move(slot, use);
    } else {
      ready_.Add(slot, use, track_.PlaceOf(slot).bytes);
    }
  } else {
    ready_.Remove(slot);
  }
  if (kept) {
    const Position served = stocked ? stocked_.UseOf(slot) : state.pushing ? use : kNever;
    kept_.Move(slot, KeepKey(slot, served == kNever ? use : track_.NextUse(slot, served + 1)));
  }
  if (use != kNever && use < fetch_ && !Resident(slot)) fetch_ = use;
}

// The reader is done with a use of this file.
void Planner::Passed(Slot slot) {
  states_[slot].unpushable = false;
  states_[slot].asked = false;
  if (stocked_.Contains(slot)) stocked_.Move(slot, NextUnread(slot));
  if (states_[slot].held) {
    Release(slot);
  } else {
    Settle(slot);
  }
}

// Lets a file go from the conveyor.
void Planner::Release(Slot slot) {
  State& state = states_[slot];
  if (!state.held) return;
  state.held = false;
  held_bytes_ -= track_.PlaceOf(slot).bytes;
  released_.push_back(track_.FileOf(slot));
  Settle(slot);
}

// After a jump, or with another epoch: next uses are others.
void Planner::ComputeAnew() {
  const auto next = [this](Slot slot) { return NextUnread(slot); };
  stocked_.MoveAll(next);
  ready_.MoveAll(next);
  kept_.MoveAll([this](Slot slot) {
    const Position use = NextUnread(slot);
    const bool served = use != kNever && (stocked_.Contains(slot) || states_[slot].pushing);
    return KeepKey(slot, served ? track_.NextUse(slot, use + 1) : use);
  });
  for (Slot slot = 0; slot < states_.size(); ++slot) {
    State& state = states_[slot];
    state.unpushable = state.asked = false;
    if (state.held && !state.pushing && !fill_ && NextUnread(slot) == kNever) Release(slot);
  }
}

void Planner::Keeps(EntryNumber file) {
  const Slot slot = track_.SlotOf(file);
  if (slot == kNoSlot || kept_.Contains(slot)) return;
  kept_.Add(slot, kNever, Pages(track_.PlaceOf(slot).bytes));
  Settle(slot);
}

void Planner::KeepsNot(EntryNumber file) {
  const Slot slot = track_.SlotOf(file);
  if (slot == kNoSlot || !kept_.Contains(slot)) return;
  kept_.Remove(slot);
  Settle(slot);
}

// Room in the warehouse for a file that is next used at `use`; what is needed later than that has to go.
KeepPlan Planner::PlanKeep(Slot slot, Position use) {
  KeepPlan plan;
  const uint64_t bytes = track_.PlaceOf(slot).bytes;
  if (kept_.Contains(slot) || limits_.kept_bytes_max == 0 || !KeepTakes(use, bytes)) return plan;
  while (kept_.bytes() + Pages(bytes) > limits_.kept_bytes_max) {
    const auto [last_use, last] = kept_.last();
    if (last_use <= KeepKey(slot, use)) return plan;  // what was put out so far was needed later than this one
    plan.evict.push_back(track_.FileOf(last));
    kept_.Remove(last);
    Settle(last);
  }
  kept_.Add(slot, KeepKey(slot, use), Pages(bytes));
  plan.keep = true;
  return plan;
}

void Planner::MeasureReader(uint64_t now_us) {
  const Position front = progress_.front();
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

// Whether another read costs much more than the bytes of a file: then what is wanted is read in tiles of the disk,
// across what is not, and the warehouse holds it until it is needed. Not for a little more, and not to and fro: between
// the two bounds it stays as it is.
bool Planner::Sweeps() const { return sweeps_; }

void Planner::ChooseMode() {
  if (!disk_.known() || limits_.kept_bytes_max == 0) return;
  const uint64_t gap = disk_.free_gap_bytes();
  const uint64_t file = track_.mean_bytes();
  if (sweeps_ ? 2 * gap >= 3 * file : gap <= 3 * file) return;
  sweeps_ = !sweeps_;
  ComputeAnew();
}

// How long the disk needs for what it was asked for.
double Planner::UnderWayUs() const {
  return reads_under_way_ * disk_.read_us() + static_cast<double>(reading_bytes_) * disk_.byte_us();
}

Position Planner::NextMissing() {
  fetch_ = std::max({fetch_, progress_.front(), track_.begin()});
  while (fetch_ < track_.end()) {
    const Slot slot = track_.At(fetch_);
    if (!Resident(slot) && !states_[slot].bad && !TooLong(slot) && !progress_.WasRead(fetch_)) return fetch_;
    ++fetch_;
  }
  return kNever;
}

Slot Planner::NextOnArm() {
  const std::vector<Slot>& files = track_.by_address();
  const auto steps = static_cast<uint32_t>(std::min<size_t>(files.size(), kArmSteps));
  for (uint32_t step = 0; step < steps; ++step) {
    if (arm_ >= files.size()) arm_ = 0;
    const Slot slot = files[arm_];
    if (Wanted(slot)) return slot;
    ++arm_;
  }
  return kNoSlot;
}

std::optional<ReadPlan> Planner::NextRead(uint64_t now_us, bool alone) {
  const Position missing = NextMissing();
  const uint64_t room = limits_.conveyor_bytes_max - std::min(limits_.conveyor_bytes_max, held_bytes_ + reading_bytes_);
  if (missing == kNever && !fill_) {
    disk_.Spare(now_us);
    return std::nullopt;
  }
  const auto soon = std::max(kUrgentFilesMin, static_cast<Position>(files_per_second_ * kUrgentSeconds));
  const bool urgent = missing != kNever && missing < progress_.front() + soon;
  if (reads_under_way_ >= limits_.reads_max) return std::nullopt;
  if (reads_under_way_ >= 2 && UnderWayUs() >= (urgent ? 2 : 1) * kUnderWayUs) return std::nullopt;

  const bool on_arm = missing == kNever || (!urgent && Sweeps());
  Slot slot = on_arm ? NextOnArm() : track_.At(missing);
  if (!on_arm && !Takes(missing, track_.PlaceOf(slot).bytes)) slot = kNoSlot;
  if (slot == kNoSlot) {
    disk_.Spare(now_us);
    return std::nullopt;
  }
  const uint64_t record = track_.PlaceOf(slot).bytes;
  uint64_t bytes_max = alone ? record : limits_.chunk_bytes_max;
  if (urgent && !alone) bytes_max = std::clamp(disk_.free_gap_bytes(), record, std::max(record, kUrgentChunkMax));
  bytes_max = std::min(bytes_max, room);
  if (record > bytes_max) {
    if (record > room) return std::nullopt;  // until something is let go
    bytes_max = record;
  }
  ReadPlan plan = Expand(slot, bytes_max, alone ? record : room, urgent);
  for (const ReadPlan::Item& item : plan.items) {
    State& state = states_[track_.SlotOf(item.file)];
    state.reading = true;
    state.deadline = progress_.front() + Horizon();
  }
  if (on_arm) arm_ = track_.RankOf(track_.SlotOf(plan.items.back().file)) + 1;
  reading_bytes_ += plan.bytes;
  ++reads_under_way_;
  disk_.Begin(now_us);
  return plan;
}

// The file, and its neighbours on the disk that are wanted too, as long as the gaps between them cost less than another
// read.
ReadPlan Planner::Expand(Slot slot, uint64_t bytes_max, uint64_t room, bool urgent) {
  const std::vector<Slot>& files = track_.by_address();
  const FilePlace& place = track_.PlaceOf(slot);
  uint64_t begin = place.offset;
  uint64_t end = place.offset + place.bytes;
  const uint64_t gap_max = disk_.free_gap_bytes();
  std::vector<Slot> joined = {slot};
  // A disk on which reads are dear is read in tiles, always the same ones: a window that began at the file that is
  // wanted would overlap with its neighbours', and a third of it would be there already.
  uint64_t tile = 0;
  if (Sweeps()) {
    tile = kTileMin;
    while (tile * 7 / 5 < gap_max && tile < limits_.chunk_bytes_max) tile *= 2;  // the nearest, by ratio
    bytes_max = std::max(bytes_max, std::min(tile + place.bytes, room));
  }
  const auto fits = [&](const FilePlace& other) {
    if (other.shard != place.shard) return false;
    if (tile > 0 && other.offset / tile != place.offset / tile) return false;
    const uint64_t other_end = other.offset + other.bytes;
    const uint64_t gap = other.offset > end ? other.offset - end : other_end < begin ? begin - other_end : 0;
    return (tile > 0 || gap <= gap_max) && std::max(end, other_end) - std::min(begin, other.offset) <= bytes_max;
  };
  for (uint32_t rank = track_.RankOf(slot) + 1; rank < files.size(); ++rank) {
    const FilePlace& other = track_.PlaceOf(files[rank]);
    if (!fits(other)) break;
    if (!Wanted(files[rank])) continue;
    joined.push_back(files[rank]);
    end = std::max(end, other.offset + other.bytes);
  }
  for (uint32_t rank = track_.RankOf(slot); rank > 0; --rank) {
    const FilePlace& other = track_.PlaceOf(files[rank - 1]);
    if (!fits(other)) break;
    if (!Wanted(files[rank - 1])) continue;
    joined.insert(joined.begin(), files[rank - 1]);
    begin = std::min(begin, other.offset);
  }
  ReadPlan plan{
      .id = next_id_++, .shard = place.shard, .offset = begin, .bytes = end - begin, .items = {}, .urgent = urgent};
  for (const Slot one : joined) plan.items.push_back({.file = track_.FileOf(one), .place = track_.PlaceOf(one)});
  return plan;
}

void Planner::PutBack(const ReadPlan& read) {
  for (const ReadPlan::Item& item : read.items) {
    const Slot slot = track_.SlotOf(item.file);
    states_[slot].reading = false;
    Settle(slot);
  }
  reading_bytes_ -= read.bytes;
  --reads_under_way_;
  disk_.Withdraw();
}

void Planner::Ended(const ReadPlan& read, uint64_t now_us) {
  disk_.End(now_us, read.bytes);
  ChooseMode();
  reading_bytes_ -= read.bytes;
  --reads_under_way_;
}

Arrival Planner::Arrived(const ReadPlan::Item& item, bool ok) {
  const Slot slot = track_.SlotOf(item.file);
  AUGUR_CHECK(slot != kNoSlot);
  State& state = states_[slot];
  AUGUR_CHECK(state.reading);
  state.reading = false;
  if (!ok) {
    state.bad = true;
    return {.keep = {}, .hold = false};
  }
  const Position use = NextUnread(slot);
  const bool sentinel = use != kNever && IsSentinel(use);
  Arrival arrival;
  // What can go to the page cache at once waits for that in the conveyor; Pushed decides whether to keep it.
  const bool to_stock = !sentinel && !stocked_.Contains(slot) && (use != kNever || (fill_ && !state.unpushable)) &&
                        StockTakes(use, item.place.bytes);
  if (!to_stock) arrival.keep = PlanKeep(slot, use);
  // Without stock it waits for its READ, also when its open was seen before it came.
  const bool for_read = limits_.stock_bytes_max == 0 && (use != kNever || progress_.IsBeingRead(slot));
  arrival.hold = to_stock || (!arrival.keep.keep && (sentinel || for_read));
  arrival.copy = arrival.hold && !to_stock;
  if (arrival.hold) {
    state.held = true;
    held_bytes_ += item.place.bytes;
  }
  Settle(slot);
  return arrival;
}

bool Planner::IsSentinel(Position position) const {
  return limits_.sentinel_every > 0 && position % limits_.sentinel_every == limits_.sentinel_every - 1;
}

// The file that is needed soonest of those that could be pushed; kNoSlot when there is none.
std::pair<Position, Slot> Planner::FirstToPush() const {
  // What is read within the next 2 ms comes too late: the kernel would have to wait for pages that a READ holds, and
  // the reader for pages that are half there.
  // A reader that has not begun yet is waited for.
  const Position margin =
      files_per_second_ > 0 ? kPushMargin + static_cast<Position>(files_per_second_ * kPushMarginSeconds) : 0;
  const auto& order = ready_.in_order();
  for (auto at = order.lower_bound({progress_.front() + margin, 0}); at != order.end(); ++at) {
    const State& state = states_[at->second];
    if (at->first > StockEnd() && !(at->first == kNever && fill_)) break;
    if (!state.unknown && !state.unpushable && (at->first == kNever || !IsSentinel(at->first))) return *at;
  }
  return {kNever, kNoSlot};
}

std::optional<PushPlan> Planner::NextPush() {
  if (limits_.stock_bytes_max == 0) return std::nullopt;
  const auto [use, slot] = FirstToPush();
  if (slot == kNoSlot) return std::nullopt;
  const uint64_t bytes = Pages(track_.PlaceOf(slot).bytes);
  if (stocked_.bytes() + pushing_bytes_ + dropping_bytes_ + bytes > limits_.stock_bytes_max - StockAside()) {
    return std::nullopt;
  }
  states_[slot].pushing = true;
  states_[slot].pushed_asked = states_[slot].asked;
  pushing_bytes_ += bytes;
  Settle(slot);
  return PushPlan{.file = track_.FileOf(slot), .bytes = track_.PlaceOf(slot).bytes};
}

KeepPlan Planner::Pushed(EntryNumber file, PushOutcome outcome) {
  const Slot slot = track_.SlotOf(file);
  AUGUR_CHECK(slot != kNoSlot);
  State& state = states_[slot];
  AUGUR_CHECK(state.pushing);
  state.pushing = false;
  const uint64_t bytes = track_.PlaceOf(slot).bytes;
  pushing_bytes_ -= Pages(bytes);
  if (outcome != PushOutcome::kPushed) {
    // What nobody is known to need is not worth a stat. A stat that ended after the push was begun was too late for it.
    state.unpushable = outcome == PushOutcome::kEnded || state.pushed_asked || NextUnread(slot) == kNever;
    state.unknown = outcome == PushOutcome::kUnknown && !state.unpushable;
    if (state.held && NextUnread(slot) == kNever) Release(slot);
    Settle(slot);
    return {};
  }
  const Position use = NextUnread(slot);
  if (!stocked_.Contains(slot)) stocked_.Add(slot, use, Pages(bytes));
  KeepPlan plan;
  if (!kept_.Contains(slot)) plan = PlanKeep(slot, use == kNever ? kNever : track_.NextUse(slot, use + 1));
  Settle(slot);
  if (state.held) {
    state.held = false;
    held_bytes_ -= bytes;
    if (!plan.keep) released_.push_back(file);
  }
  return plan;
}

void Planner::PushLost(EntryNumber file) {
  const Slot slot = track_.SlotOf(file);
  AUGUR_CHECK(slot != kNoSlot && states_[slot].pushing);
  states_[slot].pushing = false;
  pushing_bytes_ -= Pages(track_.PlaceOf(slot).bytes);
  kept_.Remove(slot);
  Settle(slot);
}

std::vector<EntryNumber> Planner::Upcoming(size_t count) const {
  std::vector<EntryNumber> files;
  const Position begin = std::max(progress_.front(), track_.begin());
  const Position end = std::min(track_.end(), begin + count);
  for (Position position = begin; position < end; ++position) {
    const Slot slot = track_.At(position);
    if (!stocked_.Contains(slot)) files.push_back(track_.FileOf(slot));
  }
  return files;
}

void Planner::Statted(EntryNumber file) {
  const Slot slot = track_.SlotOf(file);
  if (slot == kNoSlot) return;
  states_[slot].unknown = false;
  states_[slot].asked = true;
}

// Drops what is needed last, for something that is needed sooner and has no room; and when there is too much at all, as
// the kernel puts in what readers ask for.
std::optional<EntryNumber> Planner::NextDrop() {
  if (stocked_.empty()) return std::nullopt;
  const uint64_t ahead = std::min(kDropAhead, limits_.stock_bytes_max / 8);
  if (stocked_.bytes() + pushing_bytes_ + ahead + StockAside() <= limits_.stock_bytes_max) return std::nullopt;
  // Never what is read in this same window: it would push out its own end.
  auto [last_use, last] = stocked_.last();
  if (last_use <= StockEnd()) {
    // But what was to be read long ago, and was not seen to be, is likely not read any more: an open was not reported,
    // or somebody else's reads have moved the front. Four times the lag, as workers are behind each other, and as far
    // as readers may be apart where that is little of the window.
    const auto [first_use, first] = stocked_.soonest();
    const uint64_t apart =
        std::min<uint64_t>(progress_.options().spread_max, limits_.stock_bytes_max / track_.mean_bytes() / 8);
    if (first_use + std::max<Position>(Position{4} * progress_.options().lag, apart) < progress_.front()) {
      last_use = kNever;
      last = first;
    } else {
      // Or what is read next has come late, and those behind it have taken its place.
      const auto [use, slot] = FirstToPush();
      const Position front = progress_.front();
      const bool far = last_use > front && last_use - front > 2 * (use - front);
      if (slot == kNoSlot || Sweeps() || !far) return std::nullopt;
    }
  }
  if (stocked_.bytes() + pushing_bytes_ <= limits_.stock_bytes_max) {
    const auto [use, slot] = FirstToPush();
    if (slot == kNoSlot || last_use <= use) return std::nullopt;
  }
  stocked_.Remove(last);
  states_[last].dropping = true;
  dropping_bytes_ += Pages(track_.PlaceOf(last).bytes);
  Settle(last);
  return track_.FileOf(last);
}

void Planner::Dropped(EntryNumber file) {
  const Slot slot = track_.SlotOf(file);
  AUGUR_CHECK(slot != kNoSlot && states_[slot].dropping);
  states_[slot].dropping = false;
  dropping_bytes_ -= Pages(track_.PlaceOf(slot).bytes);
  Settle(slot);
}

std::vector<EntryNumber> Planner::TakeStocked() {
  std::vector<EntryNumber> files;
  while (!stocked_.empty()) {
    const Slot slot = stocked_.last().second;
    files.push_back(track_.FileOf(slot));
    stocked_.Remove(slot);
    states_[slot].dropping = true;
    dropping_bytes_ += Pages(track_.PlaceOf(slot).bytes);
    Settle(slot);
  }
  return files;
}

std::vector<EntryNumber> Planner::TakeKept() {
  std::vector<EntryNumber> files;
  while (!kept_.empty()) {
    const Slot slot = kept_.last().second;
    files.push_back(track_.FileOf(slot));
    kept_.Remove(slot);
    Settle(slot);
  }
  return files;
}

void Planner::SetSight(uint32_t sentinel_every, const ProgressOptions& progress) {
  limits_.sentinel_every = sentinel_every;
  progress_.SetOptions(progress);
}

std::vector<EntryNumber> Planner::TakeReleased() { return std::exchange(released_, {}); }

PlannerGauges Planner::gauges() const {
  return {.epochs_queued = track_.epoch_count(),
          .position = progress_.front(),
          .end = track_.end(),
          .reads_under_way = reads_under_way_,
          .conveyor_bytes = held_bytes_ + reading_bytes_,
          .kept_bytes = kept_.bytes(),
          .stock_bytes = stocked_.bytes() + pushing_bytes_ + dropping_bytes_,
          .ready_files = ready_.count(),
          .sweeping = Sweeps()};
}

}  // namespace augur
