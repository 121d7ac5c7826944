// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>

#include "datasets/order.h"

namespace augur {

// Appends the `count` files that come after `file` in some order; fewer at its end, or when they cannot be told.
using NextFiles = std::function<void(EntryNumber file, size_t count, Order* files)>;

// SequenceRun is one pass over files in the order of a NextFiles, from a first file on. It knows which of them have
// been read, which have been handed out, and which come next. Readers of a pass may be apart, because a DataLoader's
// workers read its batches side by side. Where they are is the front: the second foremost of the last kFrontReads
// reads, because a single one may be another program's. The run knows the files from kBehindFiles behind the front to
// kReachFiles before it, or to the last that was handed out. Memory: 60 bytes for each of these. One thread at a time.
// Does not find out whether there is a pass: SequenceDetector.
class SequenceRun {
 public:
  // How far apart the readers of a pass may be: 16 workers, each with two batches of 256 files.
  static constexpr size_t kReachFiles = 8192;
  static constexpr size_t kBehindFiles = 8192;
  static constexpr size_t kFrontReads = 8;
  // How far from the front the next read may be when the readers were seen close together; else it is twice their
  // distance. When one read in 64 is seen the next but one is this far away with probability 17 e^-16 = 2 * 10^-6.
  static constexpr uint64_t kStepFiles = 1024;
  // How far before the front files are handed out: 7 GB of photographs, 0.5 GB of 8 KB files.
  static constexpr size_t kAheadFiles = 65536;
  // A read of a file that was read at most this many reads ago is a further piece of it; later it is another pass.
  static constexpr uint64_t kPieceReads = 256;

  SequenceRun(const NextFiles* next, EntryNumber first);

  // Whether the file is one that this pass may read now: near the front, and not read long ago. Then it counts
  // as read. `number` counts the reads of the detector.
  bool Observe(EntryNumber file, uint64_t number);
  // The readers of this pass are at these files, however far apart: those that the run knows count as read.
  void Adopt(const Order& files, uint64_t number);
  // Counts the file as read if the run knows it and it is near, as Observe does. Does not believe that the pass has
  // come so far: another program may have read it. Returns whether it counts.
  bool Mark(EntryNumber file, uint64_t number);
  // Whether the file is one of those that the run knows, read or not; not yet read.
  bool Knows(EntryNumber file) const { return ranks_.contains(file); }
  bool Awaits(EntryNumber file) const;
  // Appends up to `count` files that were neither handed out nor read, in order. Returns how many: fewer than asked at
  // the end of the order or at kAheadFiles.
  size_t Take(size_t count, Order* files);
  // Takes over what `other`, which begins at a file that this run knows, has seen and has handed out.
  void Absorb(const SequenceRun& other);

  EntryNumber first() const { return slots_.front().file; }  // the hindmost that it knows
  uint64_t last_read() const { return last_read_; }          // number of the last read of its own; 0: none yet
  // The front is about at the end of the order: what may come are stragglers.
  bool finished() const { return ended_ && front_ + kStepFiles >= base_ + slots_.size(); }

 private:
  struct Slot {
    EntryNumber file = 0;
    bool handed = false;
    uint64_t read = 0;  // number of the read; 0: not read
  };

  // The file's slot if this pass may read it now; else nullptr.
  Slot* Near(EntryNumber file, uint64_t number, uint64_t* rank);
  // Makes the run know `rank`, if the order goes so far.
  void MapTo(uint64_t rank);
  // A reader of this pass was there.
  void Advance(uint64_t rank);
  // Readers were seen so far apart, in ranks.
  void Spread(uint64_t apart);

  const NextFiles* const next_;
  // Ranks base_ and on: at most kBehindFiles behind the front, and kAheadFiles and a piece before it. Absorb adds those
  // of the other run.
  std::deque<Slot> slots_;
  std::unordered_map<EntryNumber, uint64_t> ranks_;  // of slots_
  uint64_t base_ = 0;
  std::deque<uint64_t> last_ranks_;  // of the last kFrontReads reads
  uint64_t front_ = 0;               // rank
  uint64_t step_ = kStepFiles;       // how far from the front the next read may be
  uint64_t handed_ = 0;              // every rank below was handed out, read or given up
  uint64_t last_read_ = 0;           // see last_read()
  bool ended_ = false;               // slots_ ends with the last file of the order
};

}  // namespace augur
