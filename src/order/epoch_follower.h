// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "order/epoch_order.h"

namespace augur {

// EpochFollower holds the reads of one job against the order that was foreseen for its epoch: what has been read, where
// the readers are, and whether they still follow it. Not synchronized. Memory: 1 bit a read of the epoch.
//
// Readers of an epoch are apart from each other, since the workers of a loader read batches in turn: by up to workers x
// batches ahead x batch. How far is seen, and twice as much is allowed (`reach`). A read in reach of the front is a
// hit; another is a miss. The score goes up by a bit for a hit and down by three for a miss, and stays below kScoreMax:
// a reader who has gone elsewhere is given up after 20 reads, while three hits make good a stranger's read.
class EpochFollower {
 public:
  static constexpr int kScoreMax = 60;
  static constexpr uint32_t kReachMin = 128;
  static constexpr uint32_t kReachMax = 65536;

  // `begin`: the first place that is known to be read, of a run that was resumed in mid-epoch.
  explicit EpochFollower(std::shared_ptr<const EpochOrder> order, uint32_t begin = 0);

  enum class Kind {
    kHit,
    kAgain,  // was read lately: a further piece, or the open of what was a READ
    kMiss,
  };
  // The file was read by somebody of this job.
  Kind Saw(EntryNumber file);
  // A place of the file that is to be read soon; none: it is not expected now.
  std::optional<uint32_t> Expects(EntryNumber file) const;
  // Whether it was one of the last reads, as far as the readers are apart: this is a further piece of it, or its open.
  bool ReadLately(EntryNumber file) const;
  // A read that belongs to nobody else was not expected.
  void Miss();

  // Whether the reads no longer agree with the order.
  bool lost() const { return score_ < 0; }
  // Whether the foremost readers are at the end: what may come are stragglers.
  bool finished() const { return hits_ > 0 && front_ + uint64_t{kReachMin} / 4 >= order_->size(); }
  // Whether the readers may have come to the end, as far as they are apart.
  bool NearEnd() const { return hits_ > 0 && front_ + uint64_t{reach_} >= order_->size(); }
  // So far as seen: reads that were expected, and those that were not.
  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }
  // Where the foremost readers are, a place; everything before tail() has been read, or is not expected any more.
  uint32_t front() const { return front_; }
  uint32_t tail() const { return tail_; }
  const EpochOrder& order() const { return *order_; }
  // What is still to be read, in order.
  Order Rest() const;

 private:
  static constexpr size_t kLately = 64;

  void Advance(uint32_t place);

  const std::shared_ptr<const EpochOrder> order_;
  std::vector<bool> read_;
  std::deque<uint32_t> lately_;  // places of the last kLately hits
  uint32_t front_ = 0;
  uint32_t tail_ = 0;
  uint32_t reach_ = 4096;  // before it is seen
  int score_ = kScoreMax / 2;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
};

}  // namespace augur
