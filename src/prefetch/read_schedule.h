// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "datasets/epoch_order.h"
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
// read next. It shares the orders with whoever found them. Not synchronized. Takes about 80 bytes a file beside the
// orders. Not for knowing where the reader is (ReaderPosition).
class ReadSchedule {
 public:
  struct Epoch {
    Position begin = 0;
    SharedOrder order;
    std::vector<bool> beside;  // as of NeighbourOrder

    Position end() const { return begin + order->size(); }
    // The first position at or after `from` that reads the file, or kNever. REQUIRES: from < end().
    Position UseOf(EntryNumber file, Position from) const;
    bool IsBeside(Position position) const { return !beside.empty() && beside[position - begin]; }
  };

  explicit ReadSchedule(FileTable files) : files_(std::move(files)) {}

  // Queues an epoch behind those that are there. Files without bytes are left out, of an order of its own: they have no
  // pages. `beside`: as of NeighbourOrder.
  void Append(SharedOrder order, std::vector<bool> beside = {});
  // Makes files known without queueing a read of them.
  void Meet(const Order& files);
  // Forgets the epochs that end at or before `position`.
  void PopBefore(Position position);
  // Forgets all epochs; the files stay known, and positions go on where they were.
  void Clear();

  Position begin() const { return epochs_.empty() ? end_ : epochs_.front().begin; }
  Position end() const { return end_; }
  const std::deque<Epoch>& epochs() const { return epochs_; }
  // The epoch that holds `position`. REQUIRES: begin() <= position < end().
  const Epoch& EpochOf(Position position) const;
  // The orders of the queued epochs, without what lies before `from`, and without files that are beside others.
  std::vector<SharedOrder> RestFrom(Position from) const;

  // REQUIRES: begin() <= position < end().
  Slot At(Position position) const;
  // The first position at or after `from` that reads the file, or kNever.
  Position NextUse(Slot slot, Position from) const;
  // ... that a reader asks for it: it is not beside another.
  Position NextRead(Slot slot, Position from) const;
  // REQUIRES: begin() <= position < end().
  bool IsBeside(Position position) const { return EpochOf(position).IsBeside(position); }

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
  Slot MeetOne(EntryNumber file);
  void SortByAddress();

  const FileTable files_;
  // One for each epoch that is not passed yet. Those that were given have at most OrderFilesMax files, and those of a
  // prediction PredictedFilesMax (Prefetcher). In archives there are up to two neighbours beside each.
  std::deque<Epoch> epochs_;
  Position end_ = 0;
  std::vector<Record> records_;
  uint64_t file_bytes_ = 0;  // of all records
  uint64_t files_with_bytes_ = 0;
  std::unordered_map<EntryNumber, Slot> slots_;
  std::vector<Slot> by_address_;
};

}  // namespace augur
