// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "datasets/order.h"
#include "prefetch/file_table.h"

namespace augur {

// Number of a read in the schedule: epoch after epoch, without gaps, from the first read ever predicted on.
using Position = uint64_t;
inline constexpr Position kNever = UINT64_MAX;

// Number of a file among those that the schedule has met, from 0 on in the order in which it met them.
using Slot = uint32_t;
inline constexpr Slot kNoSlot = UINT32_MAX;

// ReadSchedule is the queue of epochs that are predicted: which file is read at which position, and where each file is
// read next. Not synchronized. Takes 12 bytes a read that is queued and about 80 a file. Not for knowing where the
// reader is (ReaderPosition).
class ReadSchedule {
 public:
  explicit ReadSchedule(FileTable files) : files_(std::move(files)) {}

  // Queues an epoch behind those that are there. Files without bytes are left out: they have no pages.
  void Append(const Order& order);
  // Makes files known without queueing a read of them.
  void Meet(const Order& files);
  // Forgets the epochs that end at or before `position`.
  void PopBefore(Position position);
  // Forgets all epochs; the files stay known, and positions go on where they were.
  void Clear();

  Position begin() const { return epochs_.empty() ? end_ : epochs_.front().begin; }
  Position end() const { return end_; }
  uint64_t epoch_count() const { return epochs_.size(); }
  // The positions [begin, end) of the epoch that holds `position`. REQUIRES: begin() <= position < end().
  std::pair<Position, Position> EpochAround(Position position) const;
  // The same of the epoch with this index. REQUIRES: index < epoch_count().
  std::pair<Position, Position> EpochAt(size_t index) const { return {epochs_[index].begin, epochs_[index].end()}; }

  // REQUIRES: begin() <= position < end().
  Slot At(Position position) const;
  // The first position at or after `from` that reads the file, or kNever.
  Position NextUse(Slot slot, Position from) const;
  // The first position that reads the file in the epoch with this index, or kNever. REQUIRES: index < epoch_count().
  Position UseIn(Slot slot, size_t index) const { return epochs_[index].UseOf(slot, 0); }

  // kNoSlot: the schedule has never met this file.
  Slot SlotOf(EntryNumber file) const;
  uint32_t slot_count() const { return static_cast<uint32_t>(records_.size()); }
  EntryNumber FileOf(Slot slot) const { return records_[slot].file; }
  const FilePlace& PlaceOf(Slot slot) const { return records_[slot].place; }

  // The files in the order in which they lie on the disk, and each one's rank there.
  const std::vector<Slot>& by_address() const { return by_address_; }
  uint32_t RankOf(Slot slot) const { return records_[slot].rank; }

  // Of all files that it has met.
  uint64_t file_bytes() const { return file_bytes_; }
  // Of the files that have bytes; 1 when there are none.
  uint64_t mean_bytes() const { return file_bytes_ / std::max<uint64_t>(1, files_with_bytes_) + 1; }

 private:
  struct Record {
    FilePlace place;
    EntryNumber file = 0;
    uint32_t rank = 0;
  };
  struct Epoch {
    Position begin = 0;
    std::vector<Slot> reads;
    std::vector<std::pair<Slot, uint32_t>> uses;  // (file, index in `reads`), sorted
    Position end() const { return begin + reads.size(); }
    // The first position at or after `first`, an index in `reads`, that reads the file, or kNever.
    Position UseOf(Slot slot, uint32_t first) const;
  };
  const Epoch& EpochOf(Position position) const;
  Slot MeetOne(EntryNumber file);
  void SortByAddress();

  const FileTable files_;
  std::deque<Epoch> epochs_;
  Position end_ = 0;
  std::vector<Record> records_;
  uint64_t file_bytes_ = 0;  // of all records
  uint64_t files_with_bytes_ = 0;
  std::unordered_map<EntryNumber, Slot> slots_;
  std::vector<Slot> by_address_;
};

}  // namespace augur
