// SPDX-License-Identifier: Apache-2.0
#include "prefetch/read_planner.h"

#include <algorithm>
#include <utility>

#include "prefetch/adjacent_files.h"

namespace augur {
namespace {

// Where regions are read the limits of a control group are the usual reason, and they are enforced in steps of a tenth
// of a second: with less than that under way, some of them have nothing to let through. Beside a step it is the 50 ms
// for which busy processors may keep the program from reading more (bench/RESULTS.md, simulated).
constexpr double kUnderWayRegionsUs = 150'000;
// A file that is needed within this time, or within PlannerInput::kUrgentFiles, is urgent; the others are read in the
// way that the disk likes best. Reads worth 50 ms are under way before it (under_way_us), and a limit that is enforced
// in steps lets it through in the second step of 100 ms at the latest.
constexpr double kUrgentSeconds = 0.25;
// An urgent read takes no more along than this: at 150 MB/s it makes it 7 ms longer. Of files that are urgent as well
// it takes so much whatever a read costs the disk: one of 1 MiB in place of nine saves the processor's work for eight.
constexpr uint64_t kUrgentChunkMax = 1 << 20;
// A disk that is far away has a read under way for each of these in a round trip (Little's law): a file of 110 KB in
// 0.25 ms is 440 MB/s, more than most lines give. With 30 ms that is 120 reads. How many the line bears is told by the
// time of the disk's work, above.
constexpr uint64_t kReadEveryUs = 250;

}  // namespace

// Of the staging, for further reads.
uint64_t ReadPlanner::room() const {
  const uint64_t staged = files_.staging().held_bytes() + files_.staging().coming_bytes();
  return in_.limits.staging_bytes_max - std::min(in_.limits.staging_bytes_max, staged);
}

// The disk has enough to do for now.
bool ReadPlanner::IsDiskBusy(bool urgent) const {
  const Staging& staging = files_.staging();
  const uint32_t reads = staging.reads_under_way();
  const uint64_t round_trip_us = in_.disk.round_trip_us();
  const uint64_t far_reads = std::max<uint64_t>(in_.limits.near_reads_max, round_trip_us / kReadEveryUs);
  if (reads >= std::min<uint64_t>(in_.limits.reads_max, far_reads)) return true;
  // The reads of a round trip are on their way, and wait for nothing.
  double under_way_us = in_.mode.in_regions() ? kUnderWayRegionsUs
                        : urgent              ? in_.limits.urgent_under_way_us
                                              : in_.limits.under_way_us;
  const bool is_guess = !in_.disk.known() && !in_.disk.has_pauses();
  if (is_guess) under_way_us = std::min(under_way_us, in_.limits.unknown_under_way_us);
  const double enough_us = static_cast<double>(round_trip_us) + under_way_us;
  const uint64_t bytes = staging.reading_bytes();
  return reads >= 2 && bytes >= in_.limits.under_way_bytes_min && in_.disk.CostUs(reads, bytes) >= enough_us;
}

// The disk could do more than it is asked for. But where a visit takes milliseconds, two under way keep it busy.
std::nullopt_t ReadPlanner::NothingToRead(uint64_t now_us) {
  if (!in_.mode.in_regions() || files_.staging().reads_under_way() < 2) in_.disk.Spare(now_us);
  return std::nullopt;
}

std::optional<ReadPlan> ReadPlanner::NextRead(uint64_t now_us, bool alone) {
  pauses_ = false;
  const bool in_regions = in_.mode.in_regions();
  const Position front = in_.reader.front();
  Position missing = files_.NextMissing();
  // A region is visited no sooner than its missing file is needed: until then, others need the room.
  if (in_regions && missing != kNever && missing > front + visits_.Lead()) missing = kNever;
  // Where the disk would else rest, since the next file has no place yet.
  const bool warms =
      in_.warm.active() && missing != kNever && !in_regions && !admission_.Takes(in_.schedule.At(missing), missing);
  const bool filling = missing == kNever || warms;
  if (filling && !in_.fill && !in_.warm.active()) return NothingToRead(now_us);
  const Position soon = std::max(PlannerInput::kUrgentFiles, in_.speed.FilesIn(kUrgentSeconds));
  const bool urgent = !filling && missing < front + soon;
  if (IsDiskBusy(urgent)) return std::nullopt;

  const Slot slot = filling ? cursor_.Next() : in_.schedule.At(missing);
  if (slot == kNoSlot) {
    pauses_ = cursor_.searches();
    return NothingToRead(now_us);
  }
  const bool visit = !filling && in_regions;
  if (!filling && !visit && !admission_.Takes(slot, missing)) return NothingToRead(now_us);
  const uint64_t record = in_.schedule.PlaceOf(slot).record_bytes;
  const uint64_t rendering = in_.schedule.PlaceOf(slot).rendering_bytes();
  if (record + rendering > room()) return std::nullopt;  // until something is let go
  // A visit that is cut short for want of room costs as much as a whole one.
  const uint64_t whole = std::min(in_.regions.bytes(), in_.limits.staging_bytes_max / 4);
  if (visit && !alone && files_.staging().reads_under_way() >= 2 && room() < whole) return std::nullopt;
  uint64_t bytes_max = urgent ? std::clamp(in_.disk.worth_gap_bytes(), in_.limits.urgent_bytes_min, kUrgentChunkMax)
                              : in_.limits.chunk_bytes_max;
  // The last file of a piece ends in the next one.
  const uint64_t piece_bytes = in_.limits.aligned ? bytes_max : 0;
  if (in_.limits.aligned) bytes_max += in_.limits.file_bytes_max;
  if (alone) bytes_max = 0;
  // What is cut short for want of room leaves a rest, which takes a request of its own.
  if (in_.limits.aligned && !alone && files_.staging().reads_under_way() >= 2 && room() < bytes_max)
    return std::nullopt;
  const uint64_t room_for_read = room() - rendering;
  const ReadReach reach = {.bytes_max = std::max(record, std::min(bytes_max, room_for_read)),
                           .room = alone ? record + rendering : room(),
                           .piece_bytes = piece_bytes,
                           .soon = front + soon,
                           .soon_bytes_max = urgent && !alone ? std::min(kUrgentChunkMax, room_for_read) : 0};
  std::vector<Slot> files =
      visit ? visits_.Visit(slot, missing, reach.room) : AdjacentFiles(in_, admission_, slot, reach);
  if (files.empty()) return NothingToRead(now_us);
  ReadPlan plan = MakePlan(std::move(files), urgent);
  if (filling) cursor_.MoveBehind(in_.schedule.SlotOf(plan.items.back().file));
  files_.staging().Begin(plan);
  in_.disk.Begin(now_us);
  plan.begun_us = now_us;
  return plan;
}

// One read of these files and of what lies between them.
ReadPlan ReadPlanner::MakePlan(std::vector<Slot> files, bool urgent) {
  const ReadSchedule& schedule = in_.schedule;
  std::sort(files.begin(), files.end(), [&](Slot a, Slot b) { return schedule.RankOf(a) < schedule.RankOf(b); });
  ReadPlan plan;
  plan.id = next_id_++;
  plan.shard = schedule.PlaceOf(files.front()).shard;
  plan.offset = schedule.PlaceOf(files.front()).offset;
  for (const Slot file : files) {
    const FilePlace& place = schedule.PlaceOf(file);
    plan.bytes = std::max(plan.bytes, place.offset + place.record_bytes - plan.offset);
    plan.items.push_back({.file = schedule.FileOf(file), .place = place});
  }
  plan.urgent = urgent;
  return plan;
}

void ReadPlanner::PutBack(const ReadPlan& read) {
  files_.staging().PutBack(read);
  for (const ReadPlan::Item& item : read.items) files_.Reclassify(in_.schedule.SlotOf(item.file));
  in_.disk.Withdraw();
  cursor_.LookAgain();  // they are wanted still, and the cursor is past them
}

void ReadPlanner::NotRead(const ReadPlan& read) {
  files_.staging().End(read);
  in_.disk.Withdraw();
}

void ReadPlanner::Ended(const ReadPlan& read, uint64_t now_us, bool asked) {
  in_.disk.End(now_us, read.bytes);
  if (asked) in_.disk.Took(now_us - read.begun_us);
  files_.staging().End(read);
}

}  // namespace augur
