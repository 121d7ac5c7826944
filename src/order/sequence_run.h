// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>

#include "order/order.h"

namespace augur {

// The file that comes after one in some order; nothing at its end, or when that cannot be told.
using NextFile = std::function<std::optional<EntryNumber>(EntryNumber)>;

// SequenceRun is one pass over files in the order of a NextFile, from a first file on: which of them have been read,
// which have been handed out, which come next. Readers of a pass may be apart: a DataLoader's workers read its batches
// side by side. So the run knows the files from the hindmost that may still be read to `kReachFiles` past the foremost
// that was read or handed out. Memory: 30 bytes for each of these. One thread at a time. Does not find out whether
// there is a pass: SequenceDetector.
class SequenceRun {
 public:
  // How far a reader may be before the others: 16 workers with two batches of 256 files each are 8,192 apart.
  static constexpr size_t kReachFiles = 8192;
  // How far behind the foremost read a file is given up: nobody will come back for it.
  static constexpr size_t kBehindFiles = 8192;

  SequenceRun(const NextFile& next, EntryNumber first);

  // Whether the file is one of those that the run knows; then it counts as read.
  bool Observe(EntryNumber file);
  // Whether the file is one of those that the run knows.
  bool Knows(EntryNumber file) const { return ranks_.contains(file); }
  // Appends up to `count` files that were neither handed out nor read, in order. Returns how many; fewer than asked at
  // the end of the order, or when more than `kReachFiles` of those handed out before the foremost read are not read.
  size_t Take(size_t count, Order* out);
  // Takes over from `other`, whose files begin within this run, what was read and handed out.
  void Absorb(const SequenceRun& other);

  // Files that were handed out and have not been seen read; files seen read.
  uint64_t read_count() const { return read_count_; }
  // Everything up to the end of the order has been handed out.
  bool handed_all() const { return ended_ && handed_ == base_ + slots_.size(); }

 private:
  struct Slot {
    EntryNumber file;
    bool read;
    bool handed;
  };

  // Knows at least `rank` after it, if the order has so many.
  void Map(uint64_t rank);
  void Trim();

  const NextFile& next_;
  std::deque<Slot> slots_;                           // rank base_ and on
  std::unordered_map<EntryNumber, uint64_t> ranks_;  // of slots_
  uint64_t base_ = 0;
  uint64_t foremost_ = 0;  // rank of the foremost read
  uint64_t handed_ = 0;    // every rank below was handed out or read
  uint64_t read_count_ = 0;
  bool ended_ = false;  // slots_ ends with the last file of the order
};

}  // namespace augur
