// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "predict/epoch_follower.h"
#include "predict/identified_order.h"
#include "predict/job_history.h"
#include "predict/next_epochs.h"
#include "predict/order_fit.h"
#include "predict/predicted_epoch.h"
#include "predict/rank_arrivals.h"
#include "predict/unpredicted_reads.h"
#include "readers/epochs.h"

namespace augur {

// JobPredictor knows the coming reads of one job: the order of the epoch that it reads, the orders of those that follow
// from it, and how far the reader is. Reads are handed in; when they no longer agree, it forgets, and the order must be
// looked for again. Not synchronized. Memory: that of UnpredictedReads, and the orders of kAhead epochs beside the
// running one.
class JobPredictor {
 public:
  // A training epoch, the validation behind it, and the next training epoch: with one ahead, the next use of a training
  // file would not be known before the validation. For 1.28 million files 31 MB (12 bytes a read).
  static constexpr size_t kAhead = 2;

  explicit JobPredictor(JobId id) : id_(id) {}

  JobId id() const { return id_; }
  // A pass has begun which nothing predicted, with these reads.
  void Begin(const EpochStart& epoch);
  // The order of the running pass was found.
  void Lock(IdentifiedOrder identified);

  // What a read has changed.
  enum class Change {
    kNothing,
    kTurned,  // an epoch is read in another view than was thought, or by more ranks of this host
    kRolled,  // the next epoch has begun, as predicted
    kLost,    // the reads do not agree any more: nothing is predicted
    kEnded,   // the epoch, and what comes after it is not known
  };
  // A read of this job, or of one that may be its; `open`: so far only its open is known; `view`: of the mount, in
  // which it was.
  Change OnRead(EntryNumber file, StreamId stream, bool open = false, uint32_t view = 0);
  // How many reads the file is away from where the readers are, if it is expected about now.
  std::optional<uint64_t> Expects(EntryNumber file) const;

  bool locked() const { return !epochs_.empty(); }
  // The order of the running epoch. REQUIRES: locked.
  const IdentifiedOrder& running() const { return epochs_.front().identified; }
  const EpochFollower& follower() const { return *epochs_.front().follower; }
  // The reads that were not predicted, in order: since Begin, or since about when the reads no longer agreed.
  const std::vector<UnpredictedRead>& reads() const { return unpredicted_.all(); }
  // The order that the reads no longer agreed with, until the next Lock or Begin. It may be that of the job still, from
  // `begin` on: where its readers were, as far back as they are apart.
  const std::optional<IdentifiedOrder>& lost() const { return lost_; }
  // The same as an epoch, of which only the job, the streams and their first reads are known.
  EpochStart Unpredicted() const { return unpredicted_.AsEpoch(id_); }
  // Reads of predicted epochs that came in their places, and that did not, since the last Lock from nothing. In a small
  // epoch (OrderFit) a read counts once enough reads after it have agreed.
  uint64_t hits() const;
  uint64_t misses() const;

  // What it has read in epochs whose order was found or predicted.
  const JobHistory& history() const { return history_; }
  void SetStreamPlaces(std::vector<StreamPosition> places) { history_.SetStreamPlaces(std::move(places)); }

  // What comes, in order: the running epoch first. A part keeps its order, the same object, until it has been read.
  struct Part {
    SharedOrder order;
    uint32_t view = 0;  // in which it is read, as its dataset was last time; else as the epoch before it
  };
  std::vector<Part> Coming() const;
  // In which the running epoch is read.
  uint32_t view() const { return epochs_.front().view; }
  Order Rest() const { return epochs_.front().follower->Rest(); }

  // For people: "torch RandomSampler, seed 0x9e3779b1, found by search in 21.0 s after 6 reads; epoch 3, 4
  // predicted so far; 99.9 % of the reads so far as predicted". Empty before the first order; it stays until the next
  // one.
  std::string Describe() const;

 private:
  void Note(EntryNumber file, StreamId stream, bool agrees) { unpredicted_.Note(file, stream, agrees && fits_); }
  bool Fits(EntryNumber file, StreamId stream);
  void BeginFit();
  // What OnRead returns for a file that the followed share does not have; none: it is no read of another rank.
  std::optional<Change> OnReadOfOtherRank(EntryNumber file, StreamId stream);
  std::optional<RankSubset> TakeReads();
  void Widen(RankSubset share);
  void ForgiveNext();
  bool NextBegun() const;
  bool FillsUp(EntryNumber file);
  Change OnReadOfNext(EntryNumber file, StreamId stream, bool open, uint32_t view);
  bool Turned(PredictedEpoch& epoch, uint32_t view);
  Change Roll();
  Change End(Change change);
  void LookAhead();
  void Append(IdentifiedOrder identified);

  const JobId id_;
  // The running one, and at most kAhead that follow. Empty: nothing is predicted.
  std::deque<PredictedEpoch> epochs_;
  std::unique_ptr<EpochFollower> before_;  // the one before it, of which stragglers may come
  uint64_t next_hits_ = 0;                 // of the next epoch since the last one of the running epoch
  double next_doubt_ = 0;                  // bits against the next epoch, which its follower does not know
  bool comes_back_ = false;
  std::optional<OrderFit> fit_;      // of the running epoch, if it is small
  bool fits_ = true;                 // the last read, by fit_
  std::deque<EntryNumber> weighed_;  // the last kPiecesWithin reads that fit_ saw
  // Of the running epoch, if a share of it is followed that the reads have told.
  std::optional<RankArrivals> arrivals_;
  UnpredictedReads unpredicted_;
  JobHistory history_;
  uint32_t view_ = 0;  // of the last read
  uint64_t epochs_predicted_ = 0;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
  std::optional<IdentifiedOrder> lost_;
  std::string described_;
};

}  // namespace augur
