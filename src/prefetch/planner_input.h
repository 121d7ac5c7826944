// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/page.h"
#include "prefetch/disk_model.h"
#include "prefetch/disk_regions.h"
#include "prefetch/file_table.h"
#include "prefetch/read_mode.h"
#include "prefetch/read_schedule.h"
#include "prefetch/reader_position.h"
#include "prefetch/reader_speed.h"
#include "prefetch/warm_files.h"

namespace augur {

// The maxima that the planner keeps to.
struct PlannerLimits {
  uint64_t retained_bytes_max = 0;     // the retained cache; 0: there is none
  uint64_t staging_bytes_max = 0;      // being read, or read and neither pushed nor kept
  uint64_t push_window_bytes_max = 0;  // pushed into the page cache and not dropped; 0: nothing is pushed
  // Of those, what the retained cache may have beyond its own on a seek-bound disk.
  uint64_t lent_window_bytes_max = 0;
  uint64_t reusable_bytes_max = 0;  // of files that were read, left in the page cache for their next use.
  // What all files that there are take of the page cache: as long as that much may be reusable, files in it are not
  // kept as well. UINT64_MAX: they are, whatever the page cache has room for.
  uint64_t data_bytes = UINT64_MAX;
  uint64_t table_bytes_max = UINT64_MAX;  // of TableBytes, beyond which nothing more is left for reuse
  uint32_t reads_max = 32;                // under way, however far away the disk is
  uint32_t near_reads_max = 32;           // ... where it is near
  // Reads are under way for this time of the disk's work, beyond the round trip. So a demand read that comes now waits
  // no longer for them: the kernel takes reads in their order. With an urgent one, for longer.
  double under_way_us = 50'000;
  double urgent_under_way_us = 100'000;
  // Until the model has measured the disk, for no more than this of its guess. Where an order was just found, its
  // reader waits for all that is under way: of 60 MB he would wait 30 ms on a disk of 2 GB/s. Not where the disk has
  // pauses: there the model would learn nothing.
  double unknown_under_way_us = 8'000;
  uint64_t under_way_bytes_min = 0;  // whatever the model says of their cost
  // An urgent read may be as long as this, with its neighbours, whatever the model says of its cost.
  uint64_t urgent_bytes_min = 0;
  // A read begins and ends where a file does that is the first of a piece of the shard, as long as the read. So earlier
  // reads leave no rests that take a read each.
  bool aligned = false;
  // Where the retained cache has room for all files, those that are not needed soon are read too.
  bool reads_all_files = false;
  bool regions = true;  // where the model says that a read costs much, regions of the disk may be read (ReadMode)

  // Reads are requests to a server far away: slow, but as many as wanted at once.
  void SetFar();
  uint64_t chunk_bytes_max = 4 << 20;
  // Longer files are left to the kernel's readahead, which is good at them; 0: an eighth of the staging.
  uint64_t file_bytes_max = 0;
  // One read in this number is not pushed, so that its READ tells where the reader is; 0: opens are seen, none is
  // needed.
  uint32_t sentinel_every = 64;
};

// PlannerInput has the facts that all parts of the planner decide by: limits, the order, the reader and the disk. Not
// synchronized. The planner owns it; its parts refer to it.
struct PlannerInput {
  // A file that is needed within this number of files is urgent: a batch of 32, which its reader takes without a pause.
  static constexpr Position kUrgentFiles = 32;
  // Files are dropped before their room is needed: while the last of these bytes are dropped, the next are pushed. They
  // are 76 files of 110 KB, which a disk of 1.8 GB/s brings in 5 ms.
  static constexpr uint64_t kDropAheadBytes = 8 << 20;

  // REQUIRES: the model outlives it.
  PlannerInput(FileTable files, DiskModel& disk_model, const PlannerLimits& limits_of_all,
               const ReaderPositionOptions& progress);
  PlannerInput(const PlannerInput&) = delete;  // its parts refer to each other
  PlannerInput& operator=(const PlannerInput&) = delete;

  // What a file, or a file of this mean size on average, takes of the page cache.
  static uint64_t Pages(uint64_t bytes) { return RoundUp(bytes, kPageBytes); }
  static uint64_t MeanPages(uint64_t mean_bytes) { return std::max(kPageBytes, mean_bytes + kPageBytes / 2); }
  uint64_t PagesOf(Slot slot) const { return Pages(schedule.PlaceOf(slot).bytes); }
  uint64_t MeanPages() const { return MeanPages(schedule.mean_bytes()); }

  // All files that are known are read as they lie, beside those that are needed soon. There is room for all, with a
  // quarter to spare for what pages take beyond bytes.
  bool ReadsAllFiles() const {
    return limits.reads_all_files && schedule.file_bytes() / 4 * 5 <= limits.retained_bytes_max;
  }
  // The next use of the file that no reader was seen to make; kNever when there is none.
  Position NextUnread(Slot slot) const;
  // The file that is read there is not pushed, so that its READ tells where the reader is.
  bool IsSentinel(Position position) const;
  // The file is left to the kernel's readahead.
  bool IsTooLong(const FilePlace& place) const;
  bool IsTooLong(Slot slot) const { return IsTooLong(schedule.PlaceOf(slot)); }

  PlannerLimits limits;
  ReadSchedule schedule;
  ReaderPosition reader;
  ReaderSpeed speed;
  DiskModel& disk;
  DiskRegions regions;
  ReadMode mode;
  bool fill = false;  // all files are read in the order of the disk when nothing is predicted
  WarmFiles warm;     // so are these, also while the files of the order have no place
};

}  // namespace augur
