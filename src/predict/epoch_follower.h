// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "datasets/epoch_order.h"

namespace augur {

// EpochFollower compares the reads of one job with the order that was predicted for its epoch: what has been read,
// where the readers are, and whether they still follow it. Not synchronized. Memory: 1 bit a read of the epoch.
//
// Readers of an epoch are apart from each other, since the workers of a loader read batches in turn: by up to workers x
// batches ahead x batch. How far is seen, and four times as much is allowed (`reach`). A read in reach of the readers
// is a hit; another is a miss. What they say for the order is their likelihood ratio against a reader who takes any
// file, or any that is left, in bits. Let p be the chance that he would have hit just then. A hit says log2(0.97 / p +
// 0.03). A miss says log2(0.03 / (1 - p)), or 0 where that is more. So wherever the readers have come so far apart that
// everything is a hit, a hit says nothing; and whoever reads something else loses bits on the average. The reach is at
// most a quarter of the epoch, since whoever reads the same files in another order is apart by all of it. Were
// everything in reach, nothing would ever be a miss. (In epochs of under 500 reads everything is, and another order is
// hardly ever lost.) It may be an eighth of all files, too. That is more where the epoch is a rank's share, of which a
// loader may read all at once.
class EpochFollower {
 public:
  // Bits that are gained beyond this are dropped, so that a reader who has gone elsewhere is soon found out. A miss
  // costs -log2(0.03) = 5 bits, so the 52 bits down to kLostBits are ten misses in turn.
  static constexpr double kBitsMax = 40;
  // An order with fewer bits than this is lost: from 0 readers of the order come there at most once in 2^12 = 4,096
  // times. One that has gained bits loses those first.
  static constexpr double kLostBits = -12;
  // 16 workers with two batches of 32 each are 1,024 files apart. In a small epoch the reach is a quarter of it, but at
  // least the 128 files of two workers.
  static constexpr uint32_t kReachMin = 1024;
  static constexpr uint32_t kReachOfAny = 128;
  // Until the distance is seen, four times these 1,024. In 1.28 million files a read by chance is a hit once in 312.
  static constexpr uint32_t kReachFirst = 4096;
  // Four times 16 workers with two batches of 512 each.
  static constexpr uint32_t kReachMax = 65536;
  static constexpr uint32_t kAgainsMax = 256;  // a batch of 256 of such a reader

  // `begin`: the first place that is known to be read, of a run that was resumed in mid-epoch. `reach`: the last one
  // known of these readers. `files`: of the set of which a reader without an order takes any; 0: those of the order.
  // The share of one rank is a small part of the set, so that each hit says much, however far the readers are apart.
  explicit EpochFollower(SharedOrder order, uint32_t begin = 0, uint32_t reach = kReachFirst, uint64_t files = 0);

  enum class Kind {
    kHit,
    kAgain,  // was read lately: a further piece of it, or the open that belongs to an earlier READ; or ReadBefore
    kMiss,
  };
  // A reader of this job has read the file; `open`: so far only its open is known.
  Kind OnRead(EntryNumber file, bool open = false);
  // A place of the file that is to be read soon; none: it is not expected now.
  std::optional<uint32_t> Expects(EntryNumber file) const;
  // Whether it is one of the next places, of as many as may fill up an epoch's end.
  bool ExpectsSoon(EntryNumber file) const;
  // Whether it was read lately, at most reach() places behind front(): this is a further piece of it, or its open.
  bool ReadLately(EntryNumber file) const;
  // Whether a read that is not expected says nothing: the file was read in this epoch before, however long ago. A
  // reader that maps its files (DALI) touches their pages thousands of files later, when the kernel may have dropped
  // them. But when kAgainsMax come with no hit between them, everything is read anew.
  bool ReadBefore(EntryNumber file);
  // Whether this is a read of the last batches. These are filled up with the first files of the epoch so that all ranks
  // have as many (DistributedSampler's padding where the order does not have it, accelerate's even_batches). Each of
  // those files may come once more, by its open and by a READ.
  bool FillsUp(EntryNumber file);
  // A read that was expected, of this epoch or the next: it makes up for one read for which ReadBefore was true.
  void MakeUp();
  // Whether at least kComesBack such reads were made up for: this is a reader who comes back to his files.
  bool ComesBack() const { return made_up_ >= kComesBack; }
  // A reader of this job has read a file that was not expected.
  void Miss();

  // What the last reads say for the order; whether they do not agree with it any more.
  double bits() const { return bits_; }
  bool lost() const { return bits_ < kLostBits; }
  uint32_t reach() const { return reach_; }
  // How far the readers were apart lately, in places; until kLately hits were seen, reach().
  uint32_t apart() const { return apart_; }
  // Whether the last reads of all were made: what may come are stragglers.
  bool finished() const { return hits_at_end_ >= kHitsAtEnd && NearEnd(); }
  // Whether the readers may have come to the end. It is in reach of front(), or only as many places are left as
  // samplers leave out that drop the last batch of each rank.
  bool NearEnd() const;
  // So far as seen: reads that were expected, and those that were not.
  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }
  // Where the foremost readers are, a place; everything before tail() has been read, or is not expected any more.
  uint32_t front() const { return front_; }
  uint32_t tail() const { return tail_; }
  const EpochOrder& order() const { return *order_; }
  // The place behind the last one up to which the foremost readers have read everything.
  uint32_t ReadUpTo() const;
  // The files at the places that were read, in order.
  Order Done() const;
  // The files that are still to be read, in order; none before `begin`.
  Order Rest() const;

 private:
  // Two batches of 32. Of one batch all hits may be one worker's, and would show no distance; of four, the front would
  // stay back for 16 reads (an eighth) instead of 8.
  static constexpr uint32_t kLately = 64;
  // Two hits among the last kEndPlaces are the end; one may be a stranger's. Of 12,000 files a stranger reads one of
  // these once in 375 reads.
  static constexpr uint32_t kEndPlaces = 32;
  static constexpr uint64_t kHitsAtEnd = 2;
  // Two batches of 32: a reader who begins the epoch anew reads one batch, or those of two workers, again.
  static constexpr uint64_t kComesBack = 64;

  double ChanceOfHit() const;
  void Advance(uint32_t place);
  void MoveTail(uint32_t place);

  const SharedOrder order_;
  const uint32_t begin_;
  const uint64_t files_;
  const uint32_t reach_max_;
  std::vector<bool> read_;
  std::vector<uint8_t> filled_up_;  // how often, of the first places
  std::deque<uint32_t> lately_;     // places of the last kLately hits
  uint32_t front_ = 0;
  uint32_t tail_ = 0;
  uint32_t reach_;
  uint32_t apart_;
  uint64_t read_ahead_ = 0;  // places from the tail on that were read
  double bits_ = 0;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
  uint64_t hits_at_end_ = 0;
  uint32_t agains_ = 0;  // more than hits
  uint64_t made_up_ = 0;
};

}  // namespace augur
