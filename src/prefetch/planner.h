// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "datasets/epoch_order.h"
#include "prefetch/file_states.h"
#include "prefetch/page_cache_planner.h"
#include "prefetch/page_cache_window.h"
#include "prefetch/page_sink.h"
#include "prefetch/planner_input.h"
#include "prefetch/plans.h"
#include "prefetch/read_admission.h"
#include "prefetch/read_planner.h"
#include "prefetch/reader_pages.h"
#include "prefetch/retention_planner.h"
#include "prefetch/warm_planner.h"

namespace augur {

struct PlannerGauges {
  uint64_t epochs_queued = 0;
  Position position = 0;  // of the front
  Position end = 0;
  uint64_t reads_under_way = 0;
  uint64_t staging_bytes = 0;
  uint64_t retained_bytes = 0;
  uint64_t push_window_bytes = 0;  // pushed, or brought in by a reader that is not done with it
  uint64_t reusable_bytes = 0;     // read, and left in the page cache
  uint64_t ready_files = 0;        // read, and could be pushed
  bool in_regions = false;
  bool lost = false;  // ReaderPosition::lost
};

// Planner decides what to read ahead, what to push into the page cache, what to drop from it, and what to keep: how is
// told in PREFETCH.md. Not synchronized; no I/O and no clock: events and times are handed in, decisions are taken out
// until there are none. Every decision taken must be answered by its event. It passes each event to the parts that it
// concerns, and each question to the part that decides; they know files by their slots.
class Planner {
 public:
  static constexpr uint64_t kBytesPerFile = FileStates::kBytesPerFile;
  static constexpr uint64_t kBytesPerReusable = FileStates::kBytesPerReusable;
  static uint64_t MeanPages(uint64_t mean_bytes) { return PlannerInput::MeanPages(mean_bytes); }

  // `disk`: the model of the disk, as learned so far; it goes on learning here. It outlives the planner, so that the
  // planner of the next view begins with it.
  Planner(FileTable files, DiskModel& disk, const PlannerLimits& limits, const ReaderPositionOptions& progress);

  // Queues an epoch behind those that are there. `beside`: as of NeighbourOrder.
  void Append(SharedOrder order, std::vector<bool> beside = {});
  // The queued reads that the reader has not passed yet, epoch by epoch.
  std::vector<SharedOrder> Rest() const { return in_.schedule.RestFrom(in_.reader.front()); }
  // Forgets all epochs: nothing more is predicted. Kept files stay, held ones are released.
  void Clear();
  // All files of the store, which fit: reads them in the order of the disk when nothing is predicted. The page cache
  // gets them where it has room for everything, else they are kept.
  void Fill(const Order& files);
  void EndFill();

  // For 'augurctl warm'.
  WarmPlanner& warm() { return warm_; }

  // A file was read to its end before it was known here, or is just being read whole, by its reader or with what he
  // reads. So the page cache should have it: it is taken for reusable, until many of such files turn out not to be.
  void AssumeCached(EntryNumber file);
  bool Knows(EntryNumber file) const { return SlotOf(file) != kNoSlot; }

  // A file was opened, or its first bytes were asked for; `missed`: by a READ, so that the kernel has its pages now.
  MissCause OnAccess(EntryNumber file, bool missed, uint64_t now_us);
  // The retained cache has this file although no Arrival said so: found at the start, or put in after a demand read.
  void SetRetained(EntryNumber file);
  // ... or has it no longer, or could not take it.
  void SetNotRetained(EntryNumber file);
  // Whether to keep a file that was let go. No other file is evicted for it.
  RetainPlan RetainWithRoom(EntryNumber file);
  // The retained cache takes less, or more, than was thought: of its own, and lent.
  void SetRetainedMax(uint64_t bytes, uint64_t lent_window_bytes) {
    in_.limits.retained_bytes_max = bytes;
    in_.limits.lent_window_bytes_max = lent_window_bytes;
  }

  // The machine has more memory, or less, to leave files in the page cache that were read. `emptied`: the kernel's
  // whole page cache was dropped by hand (/proc/sys/vm/drop_caches) since the last call.
  void SetReusableMax(uint64_t bytes, bool emptied) {
    in_.limits.reusable_bytes_max = bytes;
    reader_pages_.SetEmptied(emptied);
  }

  // Opens are seen from now on, or no longer: see PlannerLimits::sentinel_every and ReaderPositionOptions.
  void SetObservation(uint32_t sentinel_every, const ReaderPositionOptions& progress);

  // The next read, or nothing for now; `alone`: without neighbours. Answer: Ended, NotRead or PutBack.
  std::optional<ReadPlan> NextRead(uint64_t now_us, bool alone = false) { return reads_.NextRead(now_us, alone); }
  // NextRead has found nothing, but has not looked everywhere: that would take too long at one time. It is to be asked
  // again soon, after what else there is to decide.
  bool pauses() const { return reads_.pauses(); }
  // The read could not be begun (no memory for it): it was not taken.
  void PutBack(const ReadPlan& read) { reads_.PutBack(read); }
  // The disk need not be read for it: all its files were rendered before (HasRendered). Before any of their Arrived.
  void NotRead(const ReadPlan& read) { reads_.NotRead(read); }
  // The read has ended, before any of its files' Arrived. `asked`: the disk or the server was asked for some of it, and
  // not only a copy of it that is nearer.
  void Ended(const ReadPlan& read, uint64_t now_us, bool asked);
  // The bytes of a file of the read are there and right; or not, then nothing is to be done with it.
  Arrival Arrived(const ReadPlan::Item& item, bool ok) { return admission_.Arrived(item, ok); }

  // The file to push next. Answer: Pushed, or PushLost.
  std::optional<PushPlan> NextPush() { return page_cache_.NextPush(); }
  // Returns whether to keep the file, whatever the outcome was; then it is let go from the staging.
  RetainPlan Pushed(EntryNumber file, PushOutcome outcome);
  // Instead of Pushed: its bytes were not in the retained cache, and have to be read again.
  void PushLost(EntryNumber file);
  // Of the next `count` reads, the files that are not in the page cache.
  std::vector<EntryNumber> Upcoming(size_t count) const;
  // A file that the kernel is being asked for is not pushed. After an outcome of kUnknown a file is pushed no sooner
  // than the kernel has been asked for it.
  void Statted(EntryNumber file, StatPhase phase);

  // The file whose pages to drop next. Answer: Dropped.
  std::optional<EntryNumber> NextDrop() { return page_cache_.NextDrop(); }
  void Dropped(EntryNumber file);
  // Files to let go from the staging since the last call.
  std::vector<EntryNumber> TakeReleased() { return files_.staging().TakeReleased(); }
  // Everything that was pushed is to be dropped from the page cache, and is forgotten.
  std::vector<EntryNumber> TakePushed() { return page_cache_.TakeAll(); }
  // The retained cache has been emptied; what it had is returned.
  std::vector<EntryNumber> TakeRetained() { return retention_.TakeAll(); }

  // Whether the page cache has room for everything, and has lost next to nothing of it so far.
  bool PagesHoldAll() const { return window_.HoldsAll(); }
  PlannerGauges gauges() const;
  uint32_t files_met() const { return in_.schedule.slot_count(); }
  uint64_t TableBytes() const { return files_.TableBytes(); }

 private:
  Slot SlotOf(EntryNumber file) const { return in_.schedule.SlotOf(file); }
  void Passed(Slot slot);
  void ComputeUsesAnew();

  PlannerInput in_;
  FileStates files_{in_};
  ReaderPages reader_pages_{in_, files_};
  PageCacheWindow window_{in_, files_, reader_pages_};
  RetentionPlanner retention_{in_, files_, window_};
  PageCachePlanner page_cache_{in_, files_, reader_pages_, window_, retention_};
  ReadAdmission admission_{in_, files_, window_, retention_};
  ReadPlanner reads_{in_, files_, window_, retention_, admission_};
  WarmPlanner warm_{in_, files_, retention_, admission_, reads_};
};

}  // namespace augur
