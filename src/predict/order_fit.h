// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "datasets/epoch_order.h"
#include "predict/epoch_follower.h"
#include "predict/evidence.h"

namespace augur {

// OrderFit tells, read by read, whether the reads of a job come in the places of the order that was predicted for its
// epoch. It is for small epochs. There the readers of a loader are apart by much of the epoch. So EpochFollower counts
// three quarters of the files as expected, and reads in any order look as predicted.
//
// Three models say how likely a read is under the order, each against a reader who takes any of the n files:
//   - by stream: Evidence (each stream goes on from its last read);
//   - by position: the distance d from the readers' position has density exp(-d / s) / 2s, with s = 16 and s = 64. This
//     is for the threads of one process, which read side by side and share one stream.
// For each the logarithms of these ratios are summed (Page's test: E. S. Page, Continuous Inspection Schemes,
// Biometrika 41, 1954), with a maximum so that an order that is no longer read is soon found out. The order is lost
// when all three sums say so. A wrong order loses about a bit a read by each model, so it is lost after some 60 reads.
//
// Not synchronized. Memory: that of two Evidences.
class OrderFit {
 public:
  // Epochs of more reads need none: there EpochFollower loses a wrong order within 100 reads. In those up to here its
  // least reach is a quarter of the epoch, the most that it may be.
  static constexpr uint64_t kReadsMax = 4 * uint64_t{EpochFollower::kReachMin};
  // The same bounds: a wrong order falls through these 52 bits in some 60 reads, at about a bit a read.
  static constexpr double kBitsMax = EpochFollower::kBitsMax;
  static constexpr double kLostBits = EpochFollower::kLostBits;

  // `from_start`: the first read of each stream is seen. Without, it may be anywhere in the order: the epoch was begun
  // in its midst, or is followed from there.
  explicit OrderFit(SharedOrder order, bool from_start = true);

  // The order of the epoch that follows. Reads near the end of this epoch may be of that one.
  void SetNext(SharedOrder next);
  // More ranks than were known read the same epoch, in their places of this order. What the reads have said for it so
  // far still holds; each stream may go on anywhere. The next epoch is not known yet.
  void Widen(SharedOrder order);
  // The next epoch has begun, and its own next is not known yet. The counts begin anew. REQUIRES: SetNext.
  void Roll();

  // A read of the job. `front`: the place where its readers are. Returns whether the read fits, by the likeliest model.
  bool OnRead(EntryNumber file, uint32_t stream, uint32_t front);

  bool lost() const;
  // Reads that fit, counted when enough reads after them agreed; reads that were counted as wrong.
  uint64_t fitted() const { return fitted_; }
  uint64_t unfitted() const { return unfitted_; }
  // The reads that are not counted yet are wrong: the order was lost.
  void CountAsUnfitted();

 private:
  static constexpr size_t kModels = 3;
  struct Page {
    double bits = 0;
    double gained = 0;  // by the last read
  };

  double StreamBits(EntryNumber file, uint32_t stream, bool near_end);
  double PositionBits(EntryNumber file, uint32_t front, double scale, bool near_end) const;
  void Add(Page& page, double bits);

  SharedOrder order_;
  SharedOrder next_;  // may be empty
  std::unique_ptr<Evidence> evidence_;
  std::unique_ptr<Evidence> next_evidence_;
  std::array<Page, kModels> pages_;
  uint64_t fitted_ = 0;
  uint64_t unfitted_ = 0;
  uint64_t pending_ = 0;  // reads since the best sum was at its maximum
};

}  // namespace augur
