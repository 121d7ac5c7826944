// SPDX-License-Identifier: Apache-2.0
#include "prefetch/planner.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "prefetch/region_read.h"

// What the planner reads, and in what order.

namespace augur {
namespace {

// A region that is visited again only to bring what is used later than this part of what memory holds would do it too
// early: what it brings has the place of what other visits bring.
constexpr uint64_t kLeadPart = 8;
// Visits are planned for this part of the memory: files do not come evenly, and what has to be put out again for want
// of room costs a visit, where room that is left costs a little of one. Measured by simulation with memory for a
// quarter to a half of the data: with all of it up to a third is lost, with 0.85 of it up to a twentieth.
constexpr double kPartHeld = 0.92;
// So many coming uses of a region's files are looked at: 50 epochs of a region of 10.
constexpr size_t kTileUsesMax = 512;
constexpr int kProbeTiles = 2;
// Reads that are not urgent stay this far behind what the disk can do, so that a demand read that comes now waits
// about so long for them: the kernel takes reads in their order.
constexpr double kUnderWayUs = 50'000;
// Where reads are dear the limits of a control group are the usual reason, and they are enforced in steps of a tenth of
// a second: less than that under way, and there is nothing to let through at some of them.
constexpr double kUnderWaySweepUs = 150'000;
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

// How many files of the mean size the memory holds for regions. What is pushed is kept too, so the stock adds nothing.
double Planner::MemoryFiles() const {
  return static_cast<double>(limits_.kept_bytes_max + limits_.lent_bytes_max) /
         static_cast<double>(schedule_.mean_bytes());
}

// How far ahead of the reader regions are visited.
Position Planner::Lead() const { return std::max(kUrgentFilesMin, static_cast<Position>(MemoryFiles()) / kLeadPart); }

// Whether a file that is read now has somewhere to go.
bool Planner::Takes(Slot slot, Position use) const {
  // Without stock, what is held waits for the reader's own READ.
  if (limits_.stock_bytes_max == 0 && use != kNever && use <= StagingEnd()) return true;
  if (StockTakes(use, schedule_.PlaceOf(slot).bytes)) return true;
  // Where reads are cheap, what is not needed soon can as well be read later: a way through the retained cache would
  // cost another copy. It is kept after it was pushed, for the next epoch.
  return (Sweeps() || use == kNever) && KeepTakes(slot, use);
}

bool Planner::Wanted(Slot slot) const {
  if (schedule_.PlaceOf(slot).bytes == 0) return false;  // an empty file has nothing to read
  if (states_[slot].bad || TooLong(slot)) return false;
  const Position use = NextUnread(slot);
  // What only the page cache has may be gone from there unseen: a fill brings it too.
  const bool only_stocked =
      Cached(slot) && !states_[slot].reading && !states_[slot].held && !states_[slot].pushing && !kept_.Contains(slot);
  if (only_stocked && fill_ && use == kNever && !PagesHoldAll()) return KeepTakes(slot, use);
  if (Resident(slot)) return false;
  if (use == kNever && !fill_) return false;
  if (use == kNever && states_[slot].unpushable) return KeepTakes(slot, use);
  return Takes(slot, use);
}

// How long the disk needs for what it was asked for.
double Planner::UnderWayUs() const { return disk_.CostUs(reads_under_way_, reading_bytes_); }

Position Planner::NextMissing() {
  fetch_ = std::max({fetch_, reader_.front(), schedule_.begin()});
  while (fetch_ < schedule_.end()) {
    const Slot slot = schedule_.At(fetch_);
    if (!Resident(slot) && !states_[slot].bad && !TooLong(slot) && !reader_.WasRead(fetch_)) return fetch_;
    ++fetch_;
  }
  return kNever;
}

// When it has gone round and nothing was wanted, it rests until something is where it was not, or no longer is.
Slot Planner::NextOnArm() {
  const Whereabouts now = {
      kept_.bytes(), stocked_.bytes(), held_bytes_, coming_bytes(), pushing_bytes_ + dropping_bytes_,
      KeptMax(),     PagesHoldAll()};
  if (now != arm_saw_) arm_passed_ = 0;
  arm_saw_ = now;
  const std::vector<Slot>& files = schedule_.by_address();
  if (arm_passed_ >= files.size()) return kNoSlot;
  const auto steps = static_cast<uint32_t>(std::min<size_t>(files.size(), kArmSteps));
  for (uint32_t step = 0; step < steps; ++step, ++arm_passed_) {
    if (arm_ >= files.size()) arm_ = 0;
    const Slot slot = files[arm_];
    if (Wanted(slot)) return slot;
    ++arm_;
  }
  pauses_ = arm_passed_ < files.size();
  return kNoSlot;
}

// The disk could do more than it is asked for. But where a visit takes milliseconds, two under way keep it busy.
std::nullopt_t Planner::NothingToRead(uint64_t now_us) {
  if (!Sweeps() || reads_under_way_ < 2) disk_.Spare(now_us);
  return std::nullopt;
}

std::optional<ReadPlan> Planner::NextRead(uint64_t now_us, bool alone) {
  pauses_ = false;
  Position missing = NextMissing();
  // A region is visited no sooner than what is missing of it is needed: until then, others need the room.
  if (Sweeps() && missing != kNever && missing > reader_.front() + Lead()) missing = kNever;
  const uint64_t room = limits_.staging_bytes_max - std::min(limits_.staging_bytes_max, held_bytes_ + coming_bytes());
  if (missing == kNever && !fill_) return NothingToRead(now_us);
  const auto soon = std::max(kUrgentFilesMin, speed_.FilesIn(kUrgentSeconds));
  const bool urgent = missing != kNever && missing < reader_.front() + soon;
  if (reads_under_way_ >= limits_.reads_max) return std::nullopt;
  const double enough_us = Sweeps() ? kUnderWaySweepUs : (urgent ? 2 : 1) * kUnderWayUs;
  if (reads_under_way_ >= 2 && UnderWayUs() >= enough_us) return std::nullopt;

  const bool on_arm = missing == kNever;
  const Slot slot = on_arm ? NextOnArm() : schedule_.At(missing);
  const bool visit = !on_arm && Sweeps();
  if (slot == kNoSlot || (!on_arm && !visit && !Takes(slot, missing))) return NothingToRead(now_us);
  const uint64_t record = schedule_.PlaceOf(slot).record_bytes;
  const uint64_t making = schedule_.PlaceOf(slot).making_bytes();
  if (record + making > room) return std::nullopt;  // until something is let go
  // A visit that is cut short for want of room costs as much as a whole one.
  const uint64_t whole = std::min(regions_.bytes(), limits_.staging_bytes_max / 4);
  if (visit && !alone && reads_under_way_ >= 2 && room < whole) return std::nullopt;
  uint64_t bytes_max = alone ? record : limits_.chunk_bytes_max;
  if (urgent && !alone) bytes_max = std::clamp(disk_.worth_gap_bytes(), record, std::max(record, kUrgentChunkMax));
  bytes_max = std::max(record, std::min(bytes_max, room - making));
  const uint64_t room_for_it = alone ? record + making : room;
  ReadPlan plan = visit ? VisitTile(slot, missing, room_for_it) : Expand(slot, bytes_max, room_for_it);
  if (plan.items.empty()) return NothingToRead(now_us);
  plan.urgent = urgent;
  for (const ReadPlan::Item& item : plan.items) {
    states_[schedule_.SlotOf(item.file)].reading = true;
    wanted_bytes_ += item.place.bytes;
  }
  if (on_arm) arm_ = schedule_.RankOf(schedule_.SlotOf(plan.items.back().file)) + 1;
  reading_bytes_ += plan.bytes;
  making_bytes_ += MakingBytes(plan);
  ++reads_under_way_;
  disk_.Begin(now_us);
  return plan;
}

// The file, and its neighbours on the disk that are wanted too, as long as the gaps between them cost less than another
// read.
ReadPlan Planner::Expand(Slot slot, uint64_t bytes_max, uint64_t room) {
  const std::vector<Slot>& files = schedule_.by_address();
  const FilePlace& place = schedule_.PlaceOf(slot);
  uint64_t begin = place.offset;
  uint64_t end = place.offset + place.record_bytes;
  uint64_t making = place.making_bytes();
  const uint64_t gap_max = disk_.worth_gap_bytes();
  std::vector<Slot> joined = {slot};
  const auto fits = [&](const FilePlace& other) {
    if (other.shard != place.shard) return false;
    const uint64_t other_end = other.offset + other.record_bytes;
    const uint64_t gap = other.offset > end ? other.offset - end : other_end < begin ? begin - other_end : 0;
    const uint64_t span = std::max(end, other_end) - std::min(begin, other.offset);
    if (other.made && making + other.bytes + span > room) return false;
    return gap <= gap_max && span <= bytes_max;
  };
  for (uint32_t rank = schedule_.RankOf(slot) + 1; rank < files.size(); ++rank) {
    const FilePlace& other = schedule_.PlaceOf(files[rank]);
    if (!fits(other)) break;
    if (!Wanted(files[rank])) continue;
    joined.push_back(files[rank]);
    end = std::max(end, other.offset + other.record_bytes);
    making += other.making_bytes();
  }
  for (uint32_t rank = schedule_.RankOf(slot); rank > 0; --rank) {
    const FilePlace& other = schedule_.PlaceOf(files[rank - 1]);
    if (!fits(other)) break;
    if (!Wanted(files[rank - 1])) continue;
    joined.push_back(files[rank - 1]);
    begin = std::min(begin, other.offset);
    making += other.making_bytes();
  }
  return MakePlan(std::move(joined));
}

// One read of these files and of what lies between them.
ReadPlan Planner::MakePlan(std::vector<Slot> files) {
  ReadPlan plan;
  if (files.empty()) return plan;
  std::sort(files.begin(), files.end(), [this](Slot a, Slot b) { return schedule_.RankOf(a) < schedule_.RankOf(b); });
  plan.id = next_id_++;
  plan.shard = schedule_.PlaceOf(files.front()).shard;
  plan.offset = schedule_.PlaceOf(files.front()).offset;
  for (const Slot file : files) {
    const FilePlace& place = schedule_.PlaceOf(file);
    plan.bytes = std::max(plan.bytes, place.offset + place.record_bytes - plan.offset);
    plan.items.push_back({.file = schedule_.FileOf(file), .place = place});
  }
  return plan;
}

// Reads of a region what is used until the next visit to it will be made.
ReadPlan Planner::VisitTile(Slot slot, Position missing, uint64_t room) {
  regions_.BeginVisit(disk_);
  const std::span<const Slot> region = regions_.Around(slot);
  Joined joined;
  JoinTile(region, missing, room, &joined);
  const std::vector<Slot>& files = schedule_.by_address();
  if (regions_.Probes() && !joined.files.empty()) {
    size_t next = static_cast<size_t>(region.data() - files.data()) + region.size();
    for (int more = 0; more < kProbeTiles && next < files.size(); ++more) {
      if (schedule_.PlaceOf(files[next]).shard != schedule_.PlaceOf(slot).shard) break;
      const std::span<const Slot> other = regions_.Around(files[next]);
      JoinTile(other, missing, std::min(room, limits_.chunk_bytes_max), &joined);
      next += other.size();
    }
  }
  return MakePlan(std::move(joined.files));
}

// Of a region, what is used until its next visit, the soonest first, as long as memory has room for it.
void Planner::JoinTile(std::span<const Slot> region, Position now, uint64_t bytes_max, Joined* joined) {
  const auto mean = static_cast<double>(schedule_.mean_bytes());
  std::vector<RegionUse> uses;
  std::vector<std::pair<Position, Slot>> wanted;
  for (const Slot file : region) {
    const FilePlace& place = schedule_.PlaceOf(file);
    if (place.bytes == 0 || states_[file].bad || TooLong(file)) continue;
    const Position next = NextUnread(file);
    if (next != kNever && !Resident(file)) wanted.emplace_back(next, file);
    const double part = static_cast<double>(place.bytes) / mean;
    for (Position use = next; use != kNever; use = schedule_.NextUse(file, use + 1)) {
      if (use >= now) uses.push_back({.use = use, .files = part});
      if (uses.size() >= kTileUsesMax) break;
    }
  }
  if (uses.empty()) return;
  std::sort(uses.begin(), uses.end(), [](const RegionUse& a, const RegionUse& b) { return a.use < b.use; });
  const Position end = VisitEnd(uses, HoldingPrice(kPartHeld * MemoryFiles(), regions_.count()));
  for (const Slot file : region) states_[file].deadline = end;

  std::sort(wanted.begin(), wanted.end());
  for (const auto& [use, file] : wanted) {
    if (use > end || !Takes(file, use)) break;
    const FilePlace& place = schedule_.PlaceOf(file);
    const uint64_t from = std::min(joined->from, place.offset);
    const uint64_t to = std::max(joined->to, place.offset + place.record_bytes);
    const uint64_t making = joined->making + place.making_bytes();
    if (to - from + making > bytes_max) break;
    joined->from = from;
    joined->to = to;
    joined->making = making;
    joined->files.push_back(file);
  }
}

void Planner::PutBack(const ReadPlan& read) {
  for (const ReadPlan::Item& item : read.items) {
    const Slot slot = schedule_.SlotOf(item.file);
    states_[slot].reading = false;
    wanted_bytes_ -= item.place.bytes;
    Settle(slot);
  }
  reading_bytes_ -= read.bytes;
  making_bytes_ -= MakingBytes(read);
  --reads_under_way_;
  disk_.Withdraw();
  arm_passed_ = 0;  // they are wanted still, and the arm is past them
}

void Planner::NotRead(const ReadPlan& read) {
  reading_bytes_ -= read.bytes;
  --reads_under_way_;
  disk_.Withdraw();
}

void Planner::Ended(const ReadPlan& read, uint64_t now_us) {
  disk_.End(now_us, read.bytes);
  if (limits_.kept_bytes_max > 0 && mode_.Choose(schedule_.mean_bytes())) ComputeAnew();
  reading_bytes_ -= read.bytes;
  --reads_under_way_;
}

Arrival Planner::Arrived(const ReadPlan::Item& item, bool ok) {
  const Slot slot = schedule_.SlotOf(item.file);
  AUGUR_CHECK(slot != kNoSlot);
  State& state = states_[slot];
  AUGUR_CHECK(state.reading);
  state.reading = false;
  wanted_bytes_ -= item.place.bytes;
  making_bytes_ -= item.place.making_bytes();
  if (!ok) {
    state.bad = true;
    return {.keep = {}, .hold = false};
  }
  const Position use = NextUnread(slot);
  const bool sentinel = use != kNever && IsSentinel(use);
  Arrival arrival;
  // What can go to the page cache at once waits for that in the staging; Pushed decides whether to keep it.
  const bool to_stock = !sentinel && !Cached(slot) && (use != kNever || (fill_ && !state.unpushable)) &&
                        StockTakes(use, item.place.bytes);
  if (!to_stock) {
    arrival.keep = PlanKeep(slot, use);
  } else if (Sweeps() && use != kNever) {
    // Its reader may be waiting for it, and take it before it is pushed: then nobody asks again.
    const Position second = schedule_.NextUse(slot, use + 1);
    if (second <= state.deadline && second != kNever) arrival.keep = PlanKeep(slot, second);
  }
  // It waits for its READ: also when its open was told before it came, and nobody has read it since.
  const bool opened = reader_.IsBeingRead(slot) && !Cached(slot);
  const bool for_read = opened || (limits_.stock_bytes_max == 0 && use != kNever);
  arrival.hold = !arrival.keep.keep && (to_stock || sentinel || for_read);
  arrival.copy = arrival.hold && !to_stock;
  if (arrival.hold) {
    state.held = true;
    held_bytes_ += item.place.bytes;
    ++held_files_;
  }
  Settle(slot);
  return arrival;
}

}  // namespace augur
