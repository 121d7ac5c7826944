// SPDX-License-Identifier: Apache-2.0
#include "prefetch/reader_position.h"

#include <algorithm>
#include <utility>

namespace augur {
namespace {

Position Apart(Position one, Position other) { return std::max(one, other) - std::min(one, other); }

}  // namespace

// One of the kernel's reads is in the spread by chance as often as that is a part of the epoch, and lies anywhere in
// it. Eight of 32 are seldom so, also late in a small epoch, where a third of the reads that are seen is the kernel's.
// The front is then some reads too far back, which costs their memory.
ReaderPositionOptions ReaderPositionOptions::OfArchives(uint64_t files_in_memory) {
  ReaderPositionOptions options;
  // What the reader is not known to be done with takes a part of the memory.
  options.lag = static_cast<uint32_t>(std::clamp<uint64_t>(files_in_memory / 8, kLagMin, options.lag));
  options.unseen_max =
      static_cast<uint32_t>(std::clamp<uint64_t>(files_in_memory / 4, uint64_t{2} * options.lag, options.unseen_max));
  options.support = 8;
  options.support_of = 32;
  options.strays_to_jump = 14;
  return options;
}

void ReaderPosition::Restart(Position begin) {
  recent_ = {};
  passed_.clear();
  base_ = tail_ = front_ = begin;
  seen_.clear();
  in_front_.clear();
  stray_count_ = 0;
  neighbour_reads_.Clear();
}

bool ReaderPosition::WasRead(Position position) const {
  if (position < tail_) return true;
  return HowSeen(position) != 0;
}

uint8_t ReaderPosition::HowSeen(Position position) const {
  const Position index = position - base_;
  return position >= base_ && index < seen_.size() ? seen_[index] : 0;
}

void ReaderPosition::Mark(Position position, uint8_t how) {
  const Position index = position - base_;
  if (index >= seen_.size()) seen_.resize(index + 1, 0);
  seen_[index] |= how;
}

// Seen when the front was there at least, and not passed until it is `lag` further.
void ReaderPosition::MarkRecent(Position position, uint8_t how, Position front) {
  Mark(position, how | kNotPassed);
  recent_.emplace(std::max(position, front), position);
}

// What was read along with it is done with when it is.
void ReaderPosition::MarkBeside(Position position, uint8_t how) {
  while (position > std::max(base_, schedule_.begin()) && schedule_.IsBeside(position - 1)) {
    --position;
    if (HowSeen(position) == 0) {
      MarkRecent(position, how, front_);
    } else {
      Mark(position, how);
    }
  }
}

bool ReaderPosition::IsBeingRead(Slot slot) const {
  Position position = schedule_.NextRead(slot, base_);
  while (position != kNever && (HowSeen(position) & kNotPassed) == 0 && WasRead(position)) {
    position = schedule_.NextRead(slot, position + 1);
  }
  return position != kNever && (HowSeen(position) & kNotPassed) != 0;
}

ReaderPosition::Match ReaderPosition::OnAccess(Slot slot, bool missed) {
  const Match match = MatchHere(slot, missed);
  // Of a read that is told twice, once: READs of files that were opened long ago are no neighbours.
  if (missed && options_.opens) return match;
  if (schedule_.NextRead(slot, schedule_.begin()) == kNever) return match;
  const ReadSchedule::Epoch& epoch = FrontsEpoch();
  if (!epoch.beside.empty()) return match;  // what is read one after the other does not stand so
  if (!neighbour_reads_.Add(schedule_.FileOf(slot), *epoch.order)) return match;
  const std::vector<Position> near = FindReader(schedule_.FileOf(slot));
  if (near.empty()) return match;
  JumpTo(near, missed);
  neighbour_reads_.Clear();
  return {.kind = Kind::kJump, .position = near.back()};
}

// Where the last reads follow an epoch far from the front, one behind it rather than one before it: of a run that was
// begun anew the epochs stand behind those that are left of the one before. Empty: they follow none, or where the front
// is.
std::vector<Position> ReaderPosition::FindReader(EntryNumber last) const {
  std::vector<Position> found;
  for (const ReadSchedule::Epoch& epoch : schedule_.epochs()) {
    std::vector<Position> read;
    for (const uint32_t place : neighbour_reads_.FindIn(*epoch.order)) read.push_back(epoch.begin + place);
    const Position here = epoch.UseOf(last, epoch.begin);
    if (read.empty() || here == kNever) continue;
    if (Together(here, front_)) return {};  // though another epoch may be the same
    if (!found.empty() && found.back() > front_) continue;
    std::erase_if(read, [&](Position position) { return Apart(position, here) >= options_.spread_max / 2; });
    if (read.size() >= options_.strays_to_jump) found = std::move(read);
  }
  return found;
}

// The last one where all are over. REQUIRES: there is an epoch.
const ReadSchedule::Epoch& ReaderPosition::FrontsEpoch() const {
  return schedule_.EpochOf(std::clamp(front_, schedule_.begin(), schedule_.end() - 1));
}

// Whether the readers of one run may be at both places at the same time. A loader begins an epoch when nearly all of
// the one before was read. An open that was told late, of a file read before the order was known, names a file of the
// next epoch: in a short one that is near, but no reader is there yet.
bool ReaderPosition::Together(Position one, Position other) const {
  if (Apart(one, other) >= options_.spread_max) return false;
  const auto [first, last] = std::minmax(one, other);
  if (first < schedule_.begin() || first >= schedule_.end()) return true;
  const ReadSchedule::Epoch& epoch = schedule_.EpochOf(first);
  const uint64_t untold = uint64_t{2} * std::max(options_.lag, options_.support);
  return last < epoch.end() || first + std::max<uint64_t>(epoch.order->size() / 8, untold) >= epoch.end();
}

// Whether a read of this position would be one of the reader at the front, now or before.
bool ReaderPosition::InReach(Position position) const {
  return position != kNever && (position < front_ || Together(position, front_));
}

ReaderPosition::Match ReaderPosition::MatchHere(Slot slot, bool missed) {
  // The first of its uses that has not been seen: a file may come twice within the spread. But an open and the READ
  // that belongs to it are one read, whichever is told first: READs are told at once and opens some milliseconds late,
  // in which a reader who finds its files in the page cache is hundreds of files further.
  const uint8_t how = missed ? kByRead : kByOpen;
  Position position = schedule_.NextRead(slot, base_);
  while (position != kNever && WasRead(position)) {
    const Position next = schedule_.NextRead(slot, position + 1);
    const bool told = (HowSeen(position) & how) != 0 || !options_.opens;
    if (!told || position + options_.lag >= front_ || !InReach(next)) {
      // What the tail has passed may as well be read again by a reader who has gone back there: Stray finds out.
      if (position < tail_ && told) return Stray(slot, missed);
      const bool first_miss = missed && position >= base_ && (HowSeen(position) & kByRead) == 0;
      if (position >= base_) Mark(position, how);
      return {.kind = Kind::kOld, .position = position, .first_miss = first_miss};
    }
    position = next;
  }
  if (!InReach(position)) return Stray(slot, missed);
  ++seen_reads_;
  if (options_.support_of > 0) {
    std::erase_if(in_front_, [this](const auto& one) { return one.second + options_.support_of < seen_reads_; });
  }
  if (position >= front_) {
    in_front_.emplace_back(position, seen_reads_);
    FollowReads();
  }
  // One that is far behind the others is being read now too, and waits as long.
  MarkRecent(position, how, front_);
  MarkBeside(position, how);
  Advance();
  return {.kind = Kind::kNew, .position = position, .first_miss = missed};
}

void ReaderPosition::FollowReads() {
  while (!in_front_.empty()) {
    const auto least = std::min_element(in_front_.begin(), in_front_.end());
    // Of the last reads of all there are too few to support each other.
    if (in_front_.size() < options_.support && least->first + options_.support < schedule_.end()) return;
    front_ = least->first + 1;
    in_front_.erase(least);
  }
}

// A stranger who reads anywhere also hits what is soon to come, for each read by chance as often as the spread is a
// part of the epoch. Four times as many of the reads in front are forgotten, the farthest first: strangers alone then
// support the front once in 4^4 such hits, and a reader beside four strangers still moves it with each read.
void ReaderPosition::ForgetChance(Position epoch_reads) {
  const double chance = static_cast<double>(options_.spread_max) / static_cast<double>(epoch_reads);
  chance_ += std::min(0.25, 4 * chance);
  if (chance_ < 1) return;
  chance_ -= 1;
  if (!in_front_.empty()) in_front_.erase(std::max_element(in_front_.begin(), in_front_.end()));
}

// Moves the tail past what is read, and finds what the reader is done with.
void ReaderPosition::Advance() {
  // No read comes after the last one of all, so it need not be waited for; but another worker may still have files to
  // read before it, if it will be seen.
  const bool ended = front_ >= schedule_.end();
  while (tail_ < front_) {
    const bool seen = HowSeen(tail_) != 0;
    const bool waits = !ended || (!seen && options_.support > 1);
    if (waits && front_ - tail_ <= (seen ? options_.lag : options_.unseen_max)) break;
    if (!seen) passed_.push_back(tail_);
    ++tail_;
  }
  // One file that was not seen holds the tail, but nothing else.
  while (!recent_.empty() && (ended || recent_.top().first + options_.lag < front_)) {
    const Position position = recent_.top().second;
    seen_[position - base_] &= static_cast<uint8_t>(~kNotPassed);
    passed_.push_back(position);
    recent_.pop();
  }
  while (base_ < tail_ && (HowSeen(base_) & kNotPassed) == 0 &&
         (ended || !options_.opens || base_ + options_.spread_max < tail_)) {
    if (!seen_.empty()) seen_.pop_front();
    ++base_;
  }
}

ReaderPosition::Match ReaderPosition::Stray(Slot slot, bool missed) {
  // The file's place in the epoch where the reader is, before or after it; and in the epoch to come, if this one was
  // broken off.
  if (schedule_.begin() == schedule_.end()) return {};
  const ReadSchedule::Epoch& epoch = FrontsEpoch();
  const Position in_this = schedule_.NextRead(slot, epoch.begin);
  if (in_this == kNever) return {};
  if (in_this < tail_ && in_this + options_.unseen_max >= tail_) return {.kind = Kind::kOld, .position = in_this};
  if (missed && options_.opens) return {.kind = Kind::kForeign, .position = in_this};
  // An open and its READ are one read here too.
  for (size_t i = 0; i < std::min(stray_count_, kStrays); ++i) {
    if (strays_[i][0] == in_this) return {.kind = Kind::kForeign, .position = in_this};
  }
  ForgetChance(epoch.order->size());
  strays_[stray_count_++ % kStrays] = {in_this, in_this < epoch.end() ? schedule_.NextRead(slot, epoch.end()) : kNever};
  for (const Position position : strays_[(stray_count_ - 1) % kStrays]) {
    if (position != kNever && JumpNear(position, missed)) return {.kind = Kind::kJump, .position = position};
  }
  return {.kind = Kind::kForeign, .position = in_this};
}

bool ReaderPosition::JumpNear(Position position, bool missed) {
  const size_t known = std::min(stray_count_, kStrays);
  // A reader in an epoch elsewhere reads positions that are near each other; a stranger's are anywhere. By chance,
  // 8 of 16 anywhere in an epoch lie in a sixteenth of it less often than once in 10^4 reads, and the reader at the
  // front brings the front back. In a short epoch workers may be farther apart: OnAccess finds their neighbour reads.
  const uint64_t part = FrontsEpoch().order->size() / 32;
  const Position apart_max =
      std::min<uint64_t>(options_.spread_max / 2, std::max<uint64_t>(part, options_.strays_to_jump));
  std::vector<Position> near;
  for (size_t i = 0; i < known; ++i) {
    for (const Position other : strays_[i]) {
      if (other != kNever && Apart(other, position) < apart_max) near.push_back(other);
    }
  }
  if (near.size() < options_.strays_to_jump) return false;
  JumpTo(near, missed);
  return true;
}

// The reader has read these, and will go on behind them.
void ReaderPosition::JumpTo(const std::vector<Position>& read, bool missed) {
  const auto [least, most] = std::minmax_element(read.begin(), read.end());
  base_ = tail_ = *least;
  front_ = *most + 1;
  seen_.assign(front_ - tail_, 0);
  recent_ = {};
  for (const Position one : read) MarkRecent(one, missed ? kByRead : kByOpen, one);
  passed_.clear();
  in_front_.clear();
  stray_count_ = 0;
  neighbour_reads_.Forget();
  Advance();
}

}  // namespace augur
