// SPDX-License-Identifier: Apache-2.0
#include "prefetch/planner.h"

#include <algorithm>

#include "base/check.h"

// What the planner reads, and in what order.

namespace augur {
namespace {

constexpr uint64_t kTileMin = 256 << 10;
// Reads that are not urgent stay this far behind what the disk can do, so that a demand read that comes now waits
// about so long for them: the kernel takes reads in their order.
constexpr double kUnderWayUs = 50'000;
// What is needed within this time, or within so many files, is read by itself; the rest as the disk likes it best.
constexpr double kUrgentSeconds = 0.25;
// An urgent read takes no more along than this: at 150 MB/s it makes it 7 ms longer.
constexpr uint64_t kUrgentChunkMax = 1 << 20;
// How far the arm looks at once, so that a decision stays short: 20 us or so.
constexpr uint32_t kArmSteps = 2048;

uint64_t MakingBytes(const ReadPlan& read) {
  uint64_t bytes = 0;
  for (const ReadPlan::Item& item : read.items) bytes += item.place.making_bytes();
  return bytes;
}

}  // namespace

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
  const uint64_t room = limits_.conveyor_bytes_max - std::min(limits_.conveyor_bytes_max, held_bytes_ + coming_bytes());
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
  const uint64_t record = track_.PlaceOf(slot).record_bytes;
  const uint64_t making = track_.PlaceOf(slot).making_bytes();
  if (record + making > room) return std::nullopt;  // until something is let go
  uint64_t bytes_max = alone ? record : limits_.chunk_bytes_max;
  if (urgent && !alone) bytes_max = std::clamp(disk_.free_gap_bytes(), record, std::max(record, kUrgentChunkMax));
  bytes_max = std::max(record, std::min(bytes_max, room - making));
  ReadPlan plan = Expand(slot, bytes_max, alone ? record : room, urgent);
  for (const ReadPlan::Item& item : plan.items) {
    State& state = states_[track_.SlotOf(item.file)];
    state.reading = true;
    state.deadline = progress_.front() + Horizon();
  }
  if (on_arm) arm_ = track_.RankOf(track_.SlotOf(plan.items.back().file)) + 1;
  reading_bytes_ += plan.bytes;
  making_bytes_ += MakingBytes(plan);
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
  uint64_t end = place.offset + place.record_bytes;
  uint64_t making = place.making_bytes();
  const uint64_t gap_max = disk_.free_gap_bytes();
  std::vector<Slot> joined = {slot};
  // A disk on which reads are dear is read in tiles, always the same ones: a window that began at the file that is
  // wanted would overlap with its neighbours', and a third of it would be there already.
  uint64_t tile = 0;
  if (Sweeps()) {
    tile = kTileMin;
    while (tile * 7 / 5 < gap_max && tile < limits_.chunk_bytes_max) tile *= 2;  // the nearest, by ratio
    bytes_max = std::max(bytes_max, std::min(tile + place.record_bytes, room - making));
  }
  const auto fits = [&](const FilePlace& other) {
    if (other.shard != place.shard) return false;
    if (tile > 0 && other.offset / tile != place.offset / tile) return false;
    const uint64_t other_end = other.offset + other.record_bytes;
    const uint64_t gap = other.offset > end ? other.offset - end : other_end < begin ? begin - other_end : 0;
    const uint64_t span = std::max(end, other_end) - std::min(begin, other.offset);
    if (other.made && making + other.bytes + span > room) return false;
    return (tile > 0 || gap <= gap_max) && span <= bytes_max;
  };
  for (uint32_t rank = track_.RankOf(slot) + 1; rank < files.size(); ++rank) {
    const FilePlace& other = track_.PlaceOf(files[rank]);
    if (!fits(other)) break;
    if (!Wanted(files[rank])) continue;
    joined.push_back(files[rank]);
    end = std::max(end, other.offset + other.record_bytes);
    making += other.making_bytes();
  }
  for (uint32_t rank = track_.RankOf(slot); rank > 0; --rank) {
    const FilePlace& other = track_.PlaceOf(files[rank - 1]);
    if (!fits(other)) break;
    if (!Wanted(files[rank - 1])) continue;
    joined.insert(joined.begin(), files[rank - 1]);
    begin = std::min(begin, other.offset);
    making += other.making_bytes();
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
  making_bytes_ -= MakingBytes(read);
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
  making_bytes_ -= item.place.making_bytes();
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

}  // namespace augur
