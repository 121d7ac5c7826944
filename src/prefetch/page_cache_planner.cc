// SPDX-License-Identifier: Apache-2.0
#include "prefetch/page_cache_planner.h"

#include <algorithm>

namespace augur {
namespace {

// A file that is this near to the reader is not pushed any more: the kernel would have to wait for pages that a READ
// holds, and the reader for pages that are half there. In 2 ms 60 files of 110 KB are pushed (3.5 GB/s), more than wait
// for the pushing threads. Two are the files of two workers that read at the same time, as for kLagMin.
constexpr Position kPushMargin = 2;
constexpr double kPushMarginSeconds = 0.002;

}  // namespace

// The file that is needed soonest of those that could be pushed, by its key in ready(); kNoSlot when there is none.
std::pair<Position, Slot> PageCachePlanner::FirstToPush() const {
  // A reader that has not begun yet is waited for.
  const Position margin = in_.speed.known() ? kPushMargin + in_.speed.FilesIn(kPushMarginSeconds) : 0;
  const Position push_end = window_.PushEnd();
  const auto& order = files_.ready().in_order();
  for (auto at = order.lower_bound({in_.reader.front() + margin, 0}); at != order.end(); ++at) {
    const bool predicted = at->first < FileStates::kHeldNever;
    if (at->first > push_end && (predicted || !in_.fill)) break;
    if (!predicted || !in_.IsSentinel(at->first)) return *at;
  }
  return {kNever, kNoSlot};
}

std::optional<PushPlan> PageCachePlanner::NextPush() {
  if (in_.limits.push_window_bytes_max == 0) return std::nullopt;
  const auto [use, slot] = FirstToPush();
  if (slot == kNoSlot) return std::nullopt;
  // Files that readers have brought in since this one was taken up have the place that was left aside for them.
  const uint64_t aside = use == FileStates::kHeldNever ? 0 : window_.bytes_aside();
  if (files_.pages().window_bytes() + in_.PagesOf(slot) > window_.bytes_max() - aside) return std::nullopt;
  files_.pages().BeginPush(slot);
  files_.Reclassify(slot);
  return PushPlan{.file = in_.schedule.FileOf(slot), .bytes = in_.schedule.PlaceOf(slot).bytes};
}

RetainPlan PageCachePlanner::Pushed(Slot slot, PushOutcome outcome) {
  const bool brought = files_.pages().EndPush(slot);
  if (outcome != PushOutcome::kPushed) return Refused(slot, outcome, brought);
  const Position use = in_.NextUnread(slot);
  if (!files_.pages().Contains(slot)) files_.pages().pushed().Add(slot, use, in_.PagesOf(slot));
  RetainPlan plan;
  if (!files_.retained().Contains(slot)) {
    // The page cache serves the next use, but where regions are read it is not counted on.
    const bool this_use = use == kNever || in_.mode.in_regions();
    plan = retention_.Plan(slot, this_use ? use : in_.schedule.NextUse(slot, use + 1));
  }
  files_.Reclassify(slot);
  if (files_.staging().Holds(slot)) {
    if (plan.retain) {
      files_.staging().LetGo(slot);
    } else {
      files_.staging().Release(slot);
    }
  }
  return plan;
}

RetainPlan PageCachePlanner::Refused(Slot slot, PushOutcome outcome, bool brought) {
  if (brought) reader_pages_.TakeBrought(slot);
  // A file without a predicted use is not worth a stat, where the retained cache takes it as well.
  const bool unpredicted = in_.NextUnread(slot) == kNever;
  const bool once = unpredicted && !(in_.fill && window_.HoldsAll());
  const bool waits = files_.pages().Refuse(slot, outcome, once);
  RetainPlan plan;
  if (files_.staging().Holds(slot) && unpredicted && !waits) {
    if (in_.fill) plan = retention_.Plan(slot, kNever);
    // Its open may be told before its READ comes, which needs it now that it is not in the page cache.
    if (plan.retain) {
      files_.staging().LetGo(slot);
    } else if (!in_.reader.IsBeingRead(slot)) {
      files_.Release(slot);
    }
  }
  files_.Reclassify(slot);
  return plan;
}

void PageCachePlanner::PushLost(Slot slot) {
  const bool brought = files_.pages().EndPush(slot);
  files_.retained().Remove(slot);
  if (brought) reader_pages_.TakeBrought(slot);
  files_.Reclassify(slot);
}

void PageCachePlanner::Statted(Slot slot, StatPhase phase) {
  if (phase == StatPhase::kBegun) {
    files_.pages().BeginStat(slot);
  } else {
    files_.pages().Statted(slot);
  }
  files_.Reclassify(slot);
}

// The pushed file to drop for another one, if any: the one that is needed last, with its use.
std::optional<std::pair<Position, Slot>> PageCachePlanner::LastNeeded() const {
  const UseQueue& pushed = files_.pages().pushed();
  const Position front = in_.reader.front();
  const auto [last_use, last] = pushed.last();
  // Never one that is read in this same window: it would push out its own end.
  if (last_use > window_.End()) return {{last_use, last}};
  // But a file that was to be read long ago, and was not seen to be, is likely not read any more: an open was not
  // reported, or the reads of another program have moved the front. Four times the lag, as workers are behind each
  // other, and the distance of readers where that is little of the window.
  const auto [first_use, first] = pushed.soonest();
  const ReaderPositionOptions& options = in_.reader.options();
  const uint64_t apart = std::min<uint64_t>(options.spread_max, window_.bytes_max() / in_.MeanPages() / 8);
  if (first_use + std::max<Position>(Position{4} * options.lag, apart) < front) return {{kNever, first}};
  // Or the file that is read next has come late, and those behind it have taken its place. In regions, one of
  // them that the retained cache has as well: it is pushed again later, and nothing is read for it.
  const auto [use, slot] = FirstToPush();
  const bool far = last_use > front && last_use - front > 2 * (use - front);
  if (slot == kNoSlot || !far || (in_.mode.in_regions() && !files_.retained().Contains(last))) return std::nullopt;
  return {{last_use, last}};
}

// For something that is needed sooner and has no room; and when there is too much at all, as the kernel puts in what
// readers ask for.
std::optional<Slot> PageCachePlanner::TakeOneToDrop() {
  UseQueue& pushed = files_.pages().pushed();
  if (pushed.empty()) return std::nullopt;
  const uint64_t bytes = pushed.bytes() + files_.pages().pushing_bytes();
  const uint64_t ahead = std::min(PlannerInput::kDropAheadBytes, window_.bytes_max() / 8);
  if (bytes + ahead + window_.bytes_aside() <= window_.bytes_max()) return std::nullopt;
  const std::optional<std::pair<Position, Slot>> last = LastNeeded();
  if (!last) return std::nullopt;
  if (bytes <= window_.bytes_max()) {
    const auto [use, slot] = FirstToPush();
    if (slot == kNoSlot || use >= FileStates::kHeldNever || last->first <= use) return std::nullopt;
  }
  pushed.Remove(last->second);
  return last->second;
}

std::optional<EntryNumber> PageCachePlanner::NextDrop() {
  std::optional<Slot> slot = reader_pages_.TakeExcess();
  if (!slot) slot = TakeOneToDrop();
  if (!slot) return std::nullopt;
  Drop(*slot);
  return in_.schedule.FileOf(*slot);
}

void PageCachePlanner::Drop(Slot slot) {
  files_.pages().BeginDrop(slot);
  files_.Reclassify(slot);
}

void PageCachePlanner::Dropped(Slot slot) {
  files_.pages().EndDrop(slot);
  files_.Reclassify(slot);
}

std::vector<EntryNumber> PageCachePlanner::TakeAll() {
  std::vector<EntryNumber> files;
  for (UseQueue* queue : {&files_.pages().pushed(), &files_.pages().reusable()}) {
    while (!queue->empty()) {
      const Slot slot = queue->last().second;
      files.push_back(in_.schedule.FileOf(slot));
      queue->Remove(slot);
      Drop(slot);
    }
  }
  return files;
}

// A reader that maps its files (DALI) opens one and touches its pages a thousand files later. For a quarter of the page
// cache's window at most: it is taken from the files ahead.
void PageCachePlanner::ReadAfterDrop() {
  if (!reads_after_drop_.Count(in_.reader.front())) return;
  ReaderPositionOptions options = in_.reader.options();
  const uint64_t most = window_.bytes_max() / in_.MeanPages() / 4;
  options.lag =
      static_cast<uint32_t>(std::max<uint64_t>(options.lag, std::min<uint64_t>(2 * uint64_t{options.lag}, most)));
  in_.reader.SetOptions(options);
}

}  // namespace augur
