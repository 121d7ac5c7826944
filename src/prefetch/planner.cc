// SPDX-License-Identifier: Apache-2.0
#include "prefetch/planner.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace augur {

Planner::Planner(FileTable files, DiskModel& disk, const PlannerLimits& limits, const ReaderPositionOptions& progress)
    : in_(std::move(files), disk, limits, progress) {}

void Planner::Append(SharedOrder order, std::vector<bool> beside) {
  const bool idle = in_.reader.front() >= in_.schedule.end();
  const Position begin = in_.schedule.end();
  in_.schedule.Append(std::move(order), std::move(beside));
  files_.Meet();
  if (idle) {
    in_.reader.Restart(begin);
    files_.LookFrom(begin);
    in_.speed.Restart();
  }
  ComputeUsesAnew();
}

void Planner::Clear() {
  in_.schedule.Clear();
  in_.reader.Restart(in_.schedule.end());
  files_.LookFrom(in_.schedule.end());
  EndFill();
}

void Planner::Fill(const Order& files) {
  in_.schedule.Meet(files);
  files_.Meet();
  in_.fill = true;
  reads_.LookAgain();
}

void Planner::EndFill() {
  in_.fill = false;
  ComputeUsesAnew();
}

std::vector<EntryNumber> Planner::Upcoming(size_t count) const {
  const ReadSchedule& schedule = in_.schedule;
  std::vector<EntryNumber> files;
  const Position begin = std::max(in_.reader.front(), schedule.begin());
  const Position end = std::min(schedule.end(), begin + count);
  for (Position position = begin; position < end; ++position) {
    const Slot slot = schedule.At(position);
    if (!files_.pages().Contains(slot)) files.push_back(schedule.FileOf(slot));
  }
  return files;
}

// After a jump, or with another epoch or another way of reading: next uses are others.
void Planner::ComputeUsesAnew() {
  reads_.LookAgain();
  reader_pages_.ComputeUsesAnew();
  files_.ComputeUsesAnew();
}

MissCause Planner::OnAccess(EntryNumber file, bool missed, uint64_t now_us) {
  using Kind = ReaderPosition::Kind;
  const Slot slot = SlotOf(file);
  if (slot == kNoSlot) return MissCause::kNone;
  reader_pages_.Count();
  const ReadSchedule& schedule = in_.schedule;
  ReaderPosition& reader = in_.reader;
  const Position tail_before = reader.tail();
  const ReaderPosition::Match match = reader.OnAccess(slot, missed);
  const bool cached = files_.pages().Contains(slot);
  const bool near = match.kind == Kind::kNew || match.kind == Kind::kOld;
  const MissCause cause = missed && near ? files_.CauseOf(slot, match.position, match.first_miss) : MissCause::kNone;
  const bool passed = (match.kind == Kind::kOld || match.kind == Kind::kForeign) && match.position < tail_before &&
                      match.position >= schedule.begin();
  if (missed && passed && !cached) page_cache_.ReadAfterDrop();
  if (match.first_miss) reader_pages_.Missed(slot, match.position);
  const bool here = near && match.position >= tail_before && reader.front() < schedule.end() &&
                    match.position + reader.options().lag >= reader.front();
  reader_pages_.OnAccess(slot, missed, here ? match.position : kNever);
  if (match.kind == Kind::kJump) {
    ComputeUsesAnew();
    files_.LookFrom(reader.front());
  } else {
    for (const Position at : reader.TakePassed()) {
      if (at >= schedule.begin() && at < schedule.end()) Passed(schedule.At(at));
    }
  }
  in_.schedule.PopBefore(reader.base());
  in_.speed.Measure(reader.front(), now_us);
  return cause;
}

// The reader is done with a use of this file.
void Planner::Passed(Slot slot) {
  files_.pages().ForgetRefusal(slot);
  (void)files_.staging().TryAgain(slot);
  reader_pages_.LeaveForReuse(slot);
  if (files_.staging().Holds(slot)) files_.staging().Release(slot);
  files_.Reclassify(slot);
}

void Planner::AssumeCached(EntryNumber file) {
  const Slot slot = SlotOf(file);
  if (slot != kNoSlot) reader_pages_.AssumeCached(slot);
}

void Planner::SetRetained(EntryNumber file) {
  const Slot slot = SlotOf(file);
  if (slot != kNoSlot) retention_.SetRetained(slot);
}

void Planner::SetNotRetained(EntryNumber file) {
  const Slot slot = SlotOf(file);
  if (slot != kNoSlot) retention_.SetNotRetained(slot);
}

RetainPlan Planner::RetainWithRoom(EntryNumber file) {
  const Slot slot = SlotOf(file);
  return slot == kNoSlot ? RetainPlan() : retention_.PlanWithRoom(slot);
}

void Planner::SetObservation(uint32_t sentinel_every, const ReaderPositionOptions& progress) {
  in_.limits.sentinel_every = sentinel_every;
  in_.reader.SetOptions(progress);
}

void Planner::Ended(const ReadPlan& read, uint64_t now_us, bool asked) {
  reads_.Ended(read, now_us, asked);
  const bool may_choose = in_.limits.regions && in_.limits.retained_bytes_max > 0;
  if (may_choose && in_.mode.Choose(in_.schedule.mean_bytes())) ComputeUsesAnew();
}

RetainPlan Planner::Pushed(EntryNumber file, PushOutcome outcome) {
  const Slot slot = SlotOf(file);
  AUGUR_CHECK(slot != kNoSlot);
  return page_cache_.Pushed(slot, outcome);
}

void Planner::PushLost(EntryNumber file) {
  const Slot slot = SlotOf(file);
  AUGUR_CHECK(slot != kNoSlot);
  page_cache_.PushLost(slot);
}

void Planner::Statted(EntryNumber file, StatPhase phase) {
  const Slot slot = SlotOf(file);
  if (slot != kNoSlot) page_cache_.Statted(slot, phase);
}

void Planner::Dropped(EntryNumber file) {
  const Slot slot = SlotOf(file);
  AUGUR_CHECK(slot != kNoSlot);
  page_cache_.Dropped(slot);
}

PlannerGauges Planner::gauges() const {
  const Staging& staging = files_.staging();
  return {.epochs_queued = in_.schedule.epochs().size(),
          .position = in_.reader.front(),
          .end = in_.schedule.end(),
          .reads_under_way = staging.reads_under_way(),
          .staging_bytes = staging.held_bytes() + staging.reading_bytes(),
          .retained_bytes = files_.retained().bytes(),
          .push_window_bytes = files_.pages().window_bytes(),
          .reusable_bytes = files_.pages().reusable().bytes(),
          .ready_files = files_.ready().count(),
          .in_regions = in_.mode.in_regions(),
          .lost = in_.reader.lost()};
}

}  // namespace augur
