// SPDX-License-Identifier: Apache-2.0
#include "predict/job_predictor.h"

#include <algorithm>
#include <utility>

namespace augur {
namespace {

// So much evidence says that the next epoch has begun: six reads in 12,000 files (2 bits each, where the reach is a
// quarter of them), two in 1.28 million. Another reader comes there once in 4,096 times.
constexpr double kBitsToRoll = 12;
// So many reads of the next epoch and none of this one, a batch of 32, say that this one has ended, where its last
// batches are dropped.
constexpr uint64_t kHitsToEnd = 32;
// 16 workers have read a batch of 32 each by then, so the slowest was seen.
constexpr uint64_t kHitsToKnowReach = 512;
// Of an epoch, while it begins: 1,500 of 12,000 files, more than the 1,024 that 16 workers are apart, so all that fills
// up the epoch before is read by then. In a small epoch it is half of the most that they may be apart, a quarter.
constexpr uint64_t kPartToBegin = 8;
// A file comes again as its further pieces, and as its open beside its READ: within so many reads, 7 ms at 9,000 files
// a second.
constexpr size_t kPiecesWithin = 64;

std::string Percent(uint64_t part, uint64_t whole) {
  const uint64_t tenths = whole == 0 ? 1000 : part * 1000 / whole;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

}  // namespace

void JobPredictor::Begin(const EpochStart& epoch) {
  unpredicted_.Begin(epoch);
  lost_.reset();
}

void JobPredictor::Append(IdentifiedOrder identified) {
  // The readers stay as far apart as they were.
  const EpochFollower* last = epochs_.empty() ? before_.get() : epochs_.front().follower.get();
  const uint32_t reach =
      last != nullptr && last->hits() > kHitsToKnowReach ? last->reach() : EpochFollower::kReachFirst;
  const uint32_t view = history_.ViewOf(identified).value_or(epochs_.empty() ? view_ : epochs_.back().view);
  epochs_.emplace_back(std::move(identified), reach, view);
}

void JobPredictor::Lock(IdentifiedOrder identified) {
  epochs_.clear();
  next_doubt_ = 0;
  if (lost_ && history_.IsOfLastDataset(identified) && identified.begin >= lost_->begin &&
      lost_->order->files() == identified.order->files()) {
    // It goes on with the order that was lost in its midst; what was known beside that is known still.
    lost_->begin = identified.begin;
    identified = *std::move(lost_);
    history_.Correct(identified);
  } else {
    hits_ = misses_ = 0;
    ++epochs_predicted_;
    history_.Begin(identified);
  }
  lost_.reset();
  history_.ReadIn(identified, view_);
  Append(std::move(identified));
  fit_.reset();
  arrivals_.reset();
  BeginFit();
  if (std::optional<RankSubset> wider = TakeReads()) return Widen(*std::move(wider));
  unpredicted_.BeginFollowing();
  LookAhead();
  BeginFit();
}

// The reads that were made until the order was known. Those that stay unpredicted are of ranks that the share lacks;
// returns the share with them, if they are believed.
std::optional<RankSubset> JobPredictor::TakeReads() {
  std::optional<RankSubset> wider;
  unpredicted_.Remove([&](const UnpredictedRead& read) {
    if (arrivals_ && follower().order().PlacesOf(read.file).empty()) {
      RankArrivals::Verdict verdict = arrivals_->OnUnexpectedRead(read.file, read.stream);
      if (verdict.share) wider = std::move(verdict.share);
      if (verdict.agrees) return false;
    }
    fits_ = Fits(read.file, read.stream);
    const bool hit = epochs_.front().follower->OnRead(read.file) == EpochFollower::Kind::kHit;
    if (hit && arrivals_) arrivals_->OnExpectedRead(read.stream);
    return true;
  });
  return wider;
}

// After the running epoch, or the one after it, is another.
void JobPredictor::BeginFit() {
  const IdentifiedOrder& now = running();
  if (!arrivals_ && now.list && !now.guess.share.IsAll()) arrivals_.emplace(now);
  // DALI opens the files of its shard a thousand files before it reads them, so that these readers are at two places.
  const bool is_piece = now.guess.share.kind == RankSubset::Kind::kPiece;
  if (!fit_ && !is_piece && now.order->size() <= OrderFit::kReadsMax) {
    fit_.emplace(now.order, now.begin == 0 && follower().hits() == 0);
  }
  if (fit_ && epochs_.size() > 1) fit_->SetNext(epochs_[1].identified.order);
}

// Whether a read comes in its place, in a small epoch.
bool JobPredictor::Fits(EntryNumber file, StreamId stream) {
  // A reader who comes back to his files reads out of order.
  if (!fit_ || comes_back_ || std::ranges::find(weighed_, file) != weighed_.end()) return true;
  weighed_.push_back(file);
  if (weighed_.size() > kPiecesWithin) weighed_.pop_front();
  return fit_->OnRead(file, static_cast<uint32_t>(stream), follower().front());
}

std::optional<JobPredictor::Change> JobPredictor::OnReadOfOtherRank(EntryNumber file, StreamId stream) {
  if (!arrivals_ || !follower().order().PlacesOf(file).empty()) return std::nullopt;
  if (before_ && before_->Expects(file)) return std::nullopt;
  if (epochs_.size() > 1 && follower().NearEnd() && epochs_[1].follower->Expects(file)) return std::nullopt;
  RankArrivals::Verdict verdict = arrivals_->OnUnexpectedRead(file, stream);
  if (!verdict.agrees) return std::nullopt;
  Note(file, stream, false);
  if (!verdict.share) return Change::kNothing;
  Widen(std::move(*verdict.share));
  return Change::kTurned;
}

// The running epoch goes on with the places of more ranks, and so do those that follow from it. What was read is done.
void JobPredictor::Widen(RankSubset share) {
  const PredictedEpoch before = std::move(epochs_.front());
  epochs_.clear();
  next_hits_ = 0;
  next_doubt_ = 0;
  const RankSubset& old = before.identified.guess.share;
  IdentifiedOrder wider = WithShare(before.identified, std::move(share));
  if (old.kind == RankSubset::Kind::kPiece) {
    wider.begin += static_cast<uint32_t>(old.begin);
  } else {
    wider.begin = static_cast<uint32_t>(uint64_t{wider.begin} * wider.guess.share.ranks.size() / old.ranks.size());
  }
  wider.piece_guessed = false;
  history_.Correct(wider);
  Append(std::move(wider));
  EpochFollower& follower = *epochs_.front().follower;
  for (const EntryNumber file : before.follower->Done()) (void)follower.OnRead(file);
  for (const UnpredictedRead& read : unpredicted_.all()) {
    if (!follower.ReadLately(read.file)) (void)follower.OnRead(read.file);
  }
  unpredicted_.BeginFollowing();
  const SharedOrder& order = running().order;
  if (fit_ && order->size() <= OrderFit::kReadsMax) {
    fit_->Widen(order);
  } else {
    fit_.reset();
  }
  arrivals_.reset();
  LookAhead();
  BeginFit();
}

// The epochs after the last that is known, if they follow from it.
void JobPredictor::LookAhead() {
  while (epochs_.size() <= kAhead) {
    std::vector<const IdentifiedOrder*> known;
    known.reserve(epochs_.size());
    for (const PredictedEpoch& epoch : epochs_) known.push_back(&epoch.identified);
    std::optional<IdentifiedOrder> next = history_.Next(known);
    if (!next) return;
    Append(*std::move(next));
  }
}

std::optional<uint64_t> JobPredictor::Expects(EntryNumber file) const {
  std::optional<uint64_t> least;
  if (epochs_.empty()) return least;
  const uint64_t here = follower().front();
  if (const std::optional<uint32_t> place = follower().Expects(file)) {
    least = *place > here ? *place - here : here - *place;
  }
  if (epochs_.size() < 2) return least;
  if (const std::optional<uint32_t> place = epochs_[1].follower->Expects(file)) {
    const uint64_t away = follower().order().size() - here + *place;
    least = std::min(away, least.value_or(away));
  }
  return least;
}

// After a read of the epoch that was expected: whether it is not read in the view in which it was thought to be.
bool JobPredictor::Turned(PredictedEpoch& epoch, uint32_t view) {
  if (!epoch.TurnsTo(view)) return false;
  history_.ReadIn(epoch.identified, view);
  return true;
}

JobPredictor::Change JobPredictor::OnRead(EntryNumber file, StreamId stream, bool open, uint32_t view) {
  view_ = view;
  if (epochs_.empty()) {
    if (before_ && before_->Expects(file)) {
      (void)before_->OnRead(file);
      return Change::kNothing;
    }
    unpredicted_.Add(file, stream);
    return Change::kNothing;
  }
  if (FillsUp(file)) {
    Note(file, stream, false);
    return Change::kNothing;
  }
  if (const std::optional<Change> change = OnReadOfOtherRank(file, stream)) return *change;
  fits_ = Fits(file, stream);
  if (fit_ && fit_->lost()) {
    Note(file, stream, false);
    return End(Change::kLost);
  }
  EpochFollower& now = *epochs_.front().follower;
  if (!now.Expects(file)) {
    if (now.ReadLately(file) || (before_ && (before_->Expects(file) || before_->ReadLately(file)))) {
      if (before_) (void)before_->OnRead(file);
      Note(file, stream, true);
      return Change::kNothing;
    }
    if (comes_back_ && !open && before_ && before_->ReadBefore(file)) return Change::kNothing;
    // A loader may begin the next epoch's first batches before the last ones of this one are read.
    if (epochs_.size() > 1 && now.NearEnd()) return OnReadOfNext(file, stream, open, view);
  }
  const bool hit = now.OnRead(file, open) == EpochFollower::Kind::kHit;
  Note(file, stream, hit);
  if (hit) {
    if (arrivals_) arrivals_->OnExpectedRead(stream);
    ForgiveNext();
    if (before_) before_->MakeUp();
    comes_back_ = comes_back_ || now.ComesBack();
  }
  if (now.finished() && epochs_.size() > 1) {
    return NextBegun() ? Roll() : Change::kNothing;
  }
  if (now.lost()) return End(Change::kLost);
  if (now.finished()) return End(Change::kEnded);
  return hit && Turned(epochs_.front(), view) ? Change::kTurned : Change::kNothing;
}

// The running epoch is still read: what the next one did not expect was a stranger's.
void JobPredictor::ForgiveNext() {
  next_hits_ = 0;
  if (epochs_.size() < 2) return;
  PredictedEpoch& next = epochs_[1];
  if (next.follower->bits() >= next_doubt_) return;
  next_doubt_ = 0;
  next.FollowAnew();
}

bool JobPredictor::NextBegun() const { return epochs_[1].follower->bits() - next_doubt_ >= kBitsToRoll; }

// Whether it is a read of the last batches: of the epoch before while this one begins, or of this one. But where the
// epoch that begins has the file at its beginning as well, it is that one's.
bool JobPredictor::FillsUp(EntryNumber file) {
  EpochFollower& now = *epochs_.front().follower;
  const bool begins = now.hits() < now.order().size() / kPartToBegin;
  if (begins && before_ && !now.ExpectsSoon(file) && before_->FillsUp(file)) return true;
  if (!now.NearEnd() || now.Expects(file)) return false;
  if (epochs_.size() > 1 && epochs_[1].follower->ExpectsSoon(file)) return false;
  return now.FillsUp(file);
}

// Near the end of the running epoch a file that it does not expect was read.
JobPredictor::Change JobPredictor::OnReadOfNext(EntryNumber file, StreamId stream, bool open, uint32_t view) {
  EpochFollower& next = *epochs_[1].follower;
  // Of a reader who comes back to his files: half of its reads may be such, so each says -1 bit for the next epoch.
  if (comes_back_ && !open && !next.Expects(file) && epochs_[0].follower->ReadBefore(file)) {
    ++next_doubt_;
    return Change::kNothing;
  }
  const EpochFollower::Kind kind = next.OnRead(file);
  if (kind == EpochFollower::Kind::kHit) {
    ++next_hits_;
    epochs_[0].follower->MakeUp();
  }
  Note(file, stream, kind != EpochFollower::Kind::kMiss);
  if (NextBegun() && (follower().finished() || next_hits_ >= kHitsToEnd)) return Roll();
  // It has a long tail, or something else is read.
  if (NextBegun() && next.hits() > EpochFollower::kReachFirst) return Roll();
  if (next.lost()) return End(Change::kLost);
  return kind == EpochFollower::Kind::kHit && Turned(epochs_[1], view) ? Change::kTurned : Change::kNothing;
}

JobPredictor::Change JobPredictor::End(Change change) {
  if (change == Change::kLost && fit_) fit_->CountAsUnfitted();
  described_ = Describe();
  hits_ = hits();
  misses_ = misses();
  PredictedEpoch left = std::move(epochs_.front());
  if (change == Change::kLost || left.identified.piece_guessed) {
    const std::optional<RankSubset> piece = left.LeftPiece();
    const EpochFollower& readers = *left.follower;
    lost_ = std::move(left.identified);
    lost_->begin = readers.front() - std::min(readers.front(), readers.reach());
    if (piece) {
      lost_->begin -= std::min<uint32_t>(lost_->begin, static_cast<uint32_t>(piece->begin));
      lost_->guess.share = *piece;
      history_.CorrectShare(*piece);
    }
    // In a small epoch it expects nearly every file, so it cannot tell stragglers from another order.
    if (fit_) left.follower.reset();
  }
  before_ = std::move(left.follower);
  fit_.reset();
  arrivals_.reset();
  epochs_.clear();
  return change;
}

JobPredictor::Change JobPredictor::Roll() {
  hits_ = hits();
  misses_ = misses();
  before_ = std::move(epochs_.front().follower);
  epochs_.pop_front();
  arrivals_.reset();
  if (fit_) fit_->Roll();
  if (running().order->size() > OrderFit::kReadsMax) fit_.reset();
  next_hits_ = 0;
  next_doubt_ = 0;
  history_.Begin(running());
  ++epochs_predicted_;
  unpredicted_.Clear();
  LookAhead();
  BeginFit();
  return Change::kRolled;
}

uint64_t JobPredictor::hits() const {
  if (epochs_.empty()) return hits_;
  return hits_ + (fit_ ? fit_->fitted() : follower().hits());
}

uint64_t JobPredictor::misses() const {
  if (epochs_.empty()) return misses_;
  return misses_ + (fit_ ? fit_->unfitted() : follower().misses());
}

std::vector<JobPredictor::Part> JobPredictor::Coming() const {
  std::vector<Part> parts;
  parts.reserve(epochs_.size());
  for (const PredictedEpoch& epoch : epochs_) {
    parts.push_back({.order = epoch.identified.order, .view = epoch.view});
  }
  return parts;
}

std::string JobPredictor::Describe() const {
  if (epochs_.empty()) return described_;
  const IdentifiedOrder& found = running();
  std::string epoch = "one epoch";
  if (!found.run.empty()) {
    epoch = "epoch " + std::to_string(found.run_epoch) + " of it";
  } else if (found.guess.sampler && found.continues) {
    epoch = "epoch " + std::to_string(found.guess.epoch);
  }
  return found.what + (found.list ? " of " + found.list->name() : "") + ", " + found.how + "; " + epoch + "; " +
         std::to_string(epochs_predicted_) + (epochs_predicted_ == 1 ? " epoch" : " epochs") + " predicted so far; " +
         Percent(hits(), hits() + misses()) + " of the reads so far as predicted";
}

}  // namespace augur
