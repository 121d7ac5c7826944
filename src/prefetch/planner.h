// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "prefetch/burst_counter.h"
#include "prefetch/disk_model.h"
#include "prefetch/disk_regions.h"
#include "prefetch/page_sink.h"
#include "prefetch/read_mode.h"
#include "prefetch/read_schedule.h"
#include "prefetch/reader_position.h"
#include "prefetch/reader_speed.h"
#include "prefetch/recent_reads.h"
#include "prefetch/reclaim_evidence.h"
#include "prefetch/use_queue.h"

namespace augur {

struct PlannerLimits {
  uint64_t kept_bytes_max = 0;     // the retained cache; 0: there is none
  uint64_t staging_bytes_max = 0;  // being read, or read and neither pushed nor kept
  uint64_t stock_bytes_max = 0;    // pushed into the page cache and not dropped; 0: nothing is pushed
  uint64_t lent_bytes_max = 0;     // of those, what the retained cache may have beyond its own where reads are dear
  uint64_t left_bytes_max = 0;     // of files that were read, left in the page cache for their next use
  // What all files that there are take of the page cache: as long as that much may be left, what is there is not kept
  // as well. UINT64_MAX: it is, whatever the page cache has room for.
  uint64_t data_bytes = UINT64_MAX;
  uint64_t table_bytes_max = UINT64_MAX;  // of TableBytes, beyond which nothing more is left
  uint32_t reads_max = 32;                // under way
  uint64_t chunk_bytes_max = 4 << 20;
  // Longer files are left to the kernel's readahead, which is good at them; 0: an eighth of the staging.
  uint64_t file_bytes_max = 0;
  // One read in so many is not pushed, so that its READ tells where the reader is; 0: opens are seen, none is needed.
  uint32_t sentinel_every = 64;
};

// What to do with a file whose bytes have come: first evict others from the retained cache, then put this one in.
struct KeepPlan {
  bool keep = false;
  std::vector<EntryNumber> evict;
};

struct ReadPlan {
  struct Item {
    EntryNumber file = 0;
    FilePlace place;
  };
  uint64_t id = 0;
  uint32_t shard = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::vector<Item> items;  // by offset; what lies between them is read for nothing
  bool urgent = false;
};

struct Arrival {
  KeepPlan keep;
  bool hold = true;   // in the staging; false: let it go once it is kept
  bool copy = false;  // hold a copy of its own: it will stay longer than its neighbours in the chunk
};

struct PushPlan {
  EntryNumber file = 0;
  uint64_t bytes = 0;
};

// What the planner knew of a file when it was seen to be read.
struct Sight {
  bool predicted = false;  // it was to be read about now
  bool sentinel = false;   // and left out of the page cache on purpose
  bool ready = false;      // its bytes were in memory
};

struct PlannerGauges {
  uint64_t epochs_queued = 0;
  Position position = 0;  // of the front
  Position end = 0;
  uint64_t reads_under_way = 0;
  uint64_t staging_bytes = 0;
  uint64_t kept_bytes = 0;
  uint64_t stock_bytes = 0;  // pushed, or brought in by a reader who is not done with it
  uint64_t left_bytes = 0;   // read, and left in the page cache
  uint64_t ready_files = 0;  // read, and could be pushed
  bool sweeping = false;
  bool lost = false;  // ReaderPosition::lost
};

// Planner decides what to read ahead, what to push into the page cache, what to drop from it, and what to keep: how is
// told in PREFETCH.md. Not synchronized; no I/O and no clock: events and times are handed in, decisions are taken out
// until there are none. Every decision taken must be answered by its event.
class Planner {
 public:
  // Memory in the tables: for each file that was met, about, for each read that is queued, and for each file that is
  // left.
  static constexpr uint64_t kBytesPerFile = 160;
  static constexpr uint64_t kBytesPerRead = 12;
  static constexpr uint64_t kBytesPerLeft = 120;
  // What files of this mean size take of the page cache, on average.
  static uint64_t MeanPages(uint64_t mean_bytes) { return std::max(kPage, mean_bytes + kPage / 2); }

  // `disk`: what is known of the disk; the planner learns on. It outlives the planner, so that the planner of the next
  // view begins with it.
  Planner(FileTable files, DiskModel& disk, const PlannerLimits& limits, const ReaderPositionOptions& progress);

  // Queues an epoch behind those that are there.
  void Append(const Order& order);
  // What is queued and not yet passed, epoch by epoch.
  std::vector<Order> Rest() const;
  // Forgets all epochs: nothing more is predicted. What is kept stays, what is held is released.
  void Clear();
  // All files of the store, which fit: reads them in the order of the disk when nothing is predicted. The page cache
  // gets them where it has room for everything, else they are kept.
  void Fill(const Order& files);

  void EndFill();

  // A file was read to its end before it was known here, so the page cache should have it: it is taken for left there,
  // until many of such files turn out not to be.
  void WasRead(EntryNumber file);
  bool Knows(EntryNumber file) const { return schedule_.SlotOf(file) != kNoSlot; }

  // A file was opened, or its first bytes were asked for; `missed`: by a READ, so that the kernel has its pages now.
  Sight Saw(EntryNumber file, bool missed, uint64_t now_us);
  // The retained cache has this file although no Arrival said so: found at the start, or put in after a demand read.
  void Keeps(EntryNumber file);
  // ... or has it no longer, or could not take it.
  void KeepsNot(EntryNumber file);
  // Whether to keep a file that was let go, nothing being put out for it.
  KeepPlan KeepWithRoom(EntryNumber file);
  // The retained cache takes less, or more, than was thought: of its own, and lent.
  void SetKeptMax(uint64_t bytes, uint64_t lent_bytes) {
    limits_.kept_bytes_max = bytes;
    limits_.lent_bytes_max = lent_bytes;
  }

  // The machine has more memory to leave what was read in the page cache, or less.
  void SetLeftMax(uint64_t bytes) { limits_.left_bytes_max = bytes; }

  // Opens are seen from now on, or no longer: see PlannerLimits::sentinel_every and ReaderPositionOptions.
  void SetSight(uint32_t sentinel_every, const ReaderPositionOptions& progress);

  // The next read, or nothing for now; `alone`: without neighbours. Answer: Ended, NotRead or PutBack.
  std::optional<ReadPlan> NextRead(uint64_t now_us, bool alone = false);
  // NextRead has found nothing, but has not looked everywhere: that would take too long at one time. It is to be asked
  // again soon, after what else there is to decide.
  bool pauses() const { return pauses_; }
  // The read could not be begun (no memory for it): it was not taken.
  void PutBack(const ReadPlan& read);
  // The disk need not be read for it: what is made of its files is there already. Before any of their Arrived.
  void NotRead(const ReadPlan& read);
  // The read has ended, before any of its files' Arrived.
  void Ended(const ReadPlan& read, uint64_t now_us);
  // The bytes of a file of the read are there and right; or not, then nothing is to be done with it.
  Arrival Arrived(const ReadPlan::Item& item, bool ok);

  // The file to push next. Answer: Pushed, or PushLost.
  std::optional<PushPlan> NextPush();
  // Returns whether to keep the file, whatever the outcome was; then it is let go from the staging.
  KeepPlan Pushed(EntryNumber file, PushOutcome outcome);
  // Instead of Pushed: its bytes were not in the retained cache, and have to be read again.
  void PushLost(EntryNumber file);
  // Of the next `count` reads, the files that are not in the page cache.
  std::vector<EntryNumber> Upcoming(size_t count) const;
  // After an outcome of kUnknown: the kernel has been asked for the file, it may be pushed again.
  void Statted(EntryNumber file);

  // The file whose pages to drop next. Answer: Dropped.
  std::optional<EntryNumber> NextDrop();
  void Dropped(EntryNumber file);
  // Files to let go from the staging since the last call.
  std::vector<EntryNumber> TakeReleased();
  // Everything that was pushed is to be dropped from the page cache, and is forgotten.
  std::vector<EntryNumber> TakeStocked();
  // The retained cache has been emptied; what it had is returned.
  std::vector<EntryNumber> TakeKept();

  // Whether the page cache has room for everything, and has lost next to nothing of it so far.
  bool PagesHoldAll() const;
  PlannerGauges gauges() const;
  uint32_t files_met() const { return schedule_.slot_count(); }
  uint64_t TableBytes() const;

 private:
  static constexpr uint64_t kPage = 4096;
  // What is needed within a fourth of a second, or within so many files, is read by itself.
  static constexpr Position kUrgentFilesMin = 32;

  uint64_t coming_bytes() const { return reading_bytes_ + making_bytes_; }
  uint64_t MeanPages() const { return MeanPages(schedule_.mean_bytes()); }
  // By what files are pushed. What nobody is known to need and is held only for that goes before what is kept anyway.
  static constexpr Position kHeldNever = kNever - 1;
  Position ReadyKey(Slot slot, Position use) const { return use == kNever && states_[slot].held ? kHeldNever : use; }
  static uint64_t Pages(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

  // Where the bytes of a file are. Several at a time.
  struct State {
    Position deadline = 0;
    bool reading = false;
    bool held = false;  // in the staging
    bool pushing = false;
    bool brought = false;  // by a READ meanwhile
    bool dropping = false;
    bool unknown = false;       // to the kernel: waits for Statted
    bool asked = false;         // Statted
    bool pushed_asked = false;  // ... before the push under way was begun
    bool unpushable = false;    // until its next use: the kernel does not know it even after that
    bool bad = false;           // cannot be read: left to those who ask for it
    bool assumed = false;       // WasRead, and not read since
  };

  void Settle(Slot slot);
  std::pair<Position, Slot> FirstToPush() const;
  bool Cached(Slot slot) const { return stocked_.Contains(slot) || left_.Contains(slot); }
  Position CachedUse(Slot slot) const { return left_.Contains(slot) ? left_.UseOf(slot) : stocked_.UseOf(slot); }
  bool Resident(Slot slot) const;
  bool TooLong(Slot slot) const;
  Position NextUnread(Slot slot) const;
  bool PagesServe(Slot slot) const { return Cached(slot) && PagesHoldAll(); }
  bool KeepTakes(Slot slot, Position use) const;
  bool StockTakes(Position use, uint64_t bytes) const;
  bool MuchLater(Position late, Position soon) const;
  bool Takes(Slot slot, Position use) const;
  bool Wanted(Slot slot) const;
  Position Lead() const;
  double MemoryFiles() const;
  Position StockEnd() const;
  Position PushEnd() const;
  uint64_t KeptMax() const;
  uint64_t StockMax() const;
  uint64_t StockedBytes() const { return stocked_.bytes() + pushing_bytes_ + dropping_bytes_; }
  Position StagingEnd() const;
  uint64_t StockAside() const;
  Position KeepKey(Slot slot, Position use) const;
  KeepPlan PlanKeep(Slot slot, Position use);
  void LetGo(Slot slot);
  void Release(Slot slot);
  void Passed(Slot slot);
  void ComputeAnew();
  void WaitLongerToDrop();
  void Count();
  void StillRead(Slot slot);
  void TakeBrought(Slot slot);
  void Leave(Slot slot);
  uint64_t LeftMax() const { return evidence_.Reclaims(recent_.seen()) ? 0 : limits_.left_bytes_max; }
  std::optional<Slot> NextNotLeft();
  bool HasRoomToLeave(uint64_t bytes) const;
  void AssumeNothing();
  std::optional<Slot> NextNotStocked();
  void Drop(Slot slot);
  void FoundGone(Slot slot);
  // Another read costs much more than the bytes of a file: files are read in regions of the disk, and the retained
  // cache holds them until they are needed.
  bool Sweeps() const { return mode_.in_regions(); }
  double UnderWayUs() const;
  std::nullopt_t NothingToRead(uint64_t now_us);
  Position NextMissing();
  Slot NextOnArm();
  ReadPlan Expand(Slot slot, uint64_t bytes_max, uint64_t room);
  struct Joined {
    std::vector<Slot> files;
    uint64_t from = UINT64_MAX;  // offsets
    uint64_t to = 0;
    uint64_t making = 0;
  };
  void JoinTile(std::span<const Slot> region, Position now, uint64_t bytes_max, Joined* joined);
  ReadPlan VisitTile(Slot slot, Position missing, uint64_t room);
  ReadPlan MakePlan(std::vector<Slot> files);
  void Shorten(Slot evicted, Position use);
  bool IsSentinel(Position position) const;

  PlannerLimits limits_;
  ReadSchedule schedule_;
  ReaderPosition reader_;
  DiskModel& disk_;
  DiskRegions regions_;
  ReadMode mode_{disk_, regions_};
  ReaderSpeed speed_;
  RecentReads recent_;  // whose pages are there, outside of any order
  ReclaimEvidence evidence_;
  std::vector<State> states_;  // by slot
  UseQueue kept_;              // by the use for which the retained cache has it
  UseQueue ready_;             // held or kept, and to be pushed if it is needed
  UseQueue stocked_;
  UseQueue left_;
  uint64_t held_bytes_ = 0;
  uint64_t held_files_ = 0;
  uint64_t reading_bytes_ = 0;
  uint64_t making_bytes_ = 0;  // of the files whose records are being read, or are there
  uint64_t wanted_bytes_ = 0;  // of the files that are being read, or made
  uint64_t pushing_bytes_ = 0;
  uint64_t dropping_bytes_ = 0;
  uint32_t reads_under_way_ = 0;
  uint64_t next_id_ = 1;
  Position fetch_ = 0;  // everything from the front to here is resident, being read, or left out
  uint32_t arm_ = 0;    // rank
  using Whereabouts = std::array<uint64_t, 7>;
  size_t arm_passed_ = 0;  // files that were not wanted, one after the other
  Whereabouts arm_saw_ = {};
  bool pauses_ = false;
  bool fill_ = false;
  std::vector<EntryNumber> released_;
  // READs of what was dropped behind the reader, by the places of the front: the reader is not done with it so soon.
  BurstCounter reads_of_dropped_{16, 1024};
};

}  // namespace augur
