// SPDX-License-Identifier: Apache-2.0
#include "datasets/sequence_run.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace augur {

SequenceRun::SequenceRun(const NextFiles* next, EntryNumber first) : next_(next) {
  slots_.push_back({.file = first});
  ranks_.emplace(first, 0);
  MapTo(kReachFiles);
}

bool SequenceRun::Observe(EntryNumber file, uint64_t number) {
  uint64_t rank = 0;
  Slot* const slot = Near(file, number, &rank);
  if (slot == nullptr) return false;
  slot->read = number;
  last_read_ = number;
  Advance(rank);
  return true;
}

bool SequenceRun::Mark(EntryNumber file, uint64_t number) {
  uint64_t rank = 0;
  Slot* const slot = Near(file, number, &rank);
  if (slot == nullptr) return false;
  slot->read = number;
  return true;
}

SequenceRun::Slot* SequenceRun::Near(EntryNumber file, uint64_t number, uint64_t* rank) {
  const auto found = ranks_.find(file);
  if (found == ranks_.end()) return nullptr;
  *rank = found->second;
  if (*rank > front_ + step_ || *rank + step_ < front_) return nullptr;
  Slot& slot = slots_[*rank - base_];
  return slot.read != 0 && slot.read + kPieceReads < number ? nullptr : &slot;
}

void SequenceRun::Adopt(const Order& files, uint64_t number) {
  // Readers that have not been heard of since are not there any more: the pass goes on elsewhere.
  const bool there = !last_ranks_.empty() && last_read_ + kPieceReads / 4 > number;
  uint64_t low = there ? front_ : std::numeric_limits<uint64_t>::max();
  uint64_t high = there ? front_ : 0;
  for (const EntryNumber file : files) {
    const auto found = ranks_.find(file);
    if (found == ranks_.end()) continue;
    const uint64_t rank = found->second;
    slots_[rank - base_].read = number;
    last_ranks_.push_back(rank);
    low = std::min(low, rank);
    high = std::max(high, rank);
  }
  if (low > high) return;
  last_read_ = number;
  Spread(high - low);
  Advance(high);
}

bool SequenceRun::Awaits(EntryNumber file) const {
  const auto found = ranks_.find(file);
  return found != ranks_.end() && slots_[found->second - base_].read == 0;
}

size_t SequenceRun::Take(size_t count, Order* files) {
  size_t taken = 0;
  const uint64_t limit = front_ + kAheadFiles;
  while (taken < count && handed_ < limit) {
    MapTo(handed_);
    if (handed_ >= base_ + slots_.size()) break;  // the end of the order
    Slot& slot = slots_[handed_++ - base_];
    if (slot.handed || slot.read != 0) continue;
    slot.handed = true;
    files->push_back(slot.file);
    ++taken;
  }
  return taken;
}

void SequenceRun::Absorb(const SequenceRun& other) {
  const auto found = ranks_.find(other.first());
  AUGUR_CHECK(found != ranks_.end());
  MapTo(found->second + other.slots_.size());
  for (const Slot& slot : other.slots_) {
    const auto here = ranks_.find(slot.file);
    if (here == ranks_.end()) continue;
    Slot& mine = slots_[here->second - base_];
    mine.handed = mine.handed || slot.handed;
    mine.read = std::max(mine.read, slot.read);
  }
  last_read_ = std::max(last_read_, other.last_read_);
  const uint64_t front = found->second + (other.front_ - other.base_);
  Spread(front - std::min(front, front_));
  Advance(front);
}

void SequenceRun::Spread(uint64_t apart) { step_ = std::clamp<uint64_t>(2 * apart, step_, kReachFiles); }

void SequenceRun::MapTo(uint64_t rank) {
  // In pieces, so that a walk down to the next file is paid once for many.
  constexpr size_t kPieceFiles = 512;
  while (!ended_ && base_ + slots_.size() <= rank) {
    Order files;
    (*next_)(slots_.back().file, kPieceFiles, &files);
    ended_ = files.size() < kPieceFiles;
    for (const EntryNumber file : files) {
      // A file twice in one order would be a circle.
      if (!ranks_.emplace(file, base_ + slots_.size()).second) {
        ended_ = true;
        return;
      }
      slots_.push_back({.file = file});
    }
  }
}

void SequenceRun::Advance(uint64_t rank) {
  last_ranks_.push_back(rank);
  while (last_ranks_.size() > kFrontReads) last_ranks_.pop_front();
  uint64_t foremost = 0;
  uint64_t second = 0;
  for (const uint64_t one : last_ranks_) {
    second = std::max(second, std::min(foremost, one));
    foremost = std::max(foremost, one);
  }
  front_ = std::max(last_ranks_.size() == 1 ? foremost : second, base_);
  MapTo(front_ + kReachFiles);
  while (base_ + kBehindFiles < front_) {
    ranks_.erase(slots_.front().file);
    slots_.pop_front();
    ++base_;
  }
  handed_ = std::max(handed_, base_);
}

}  // namespace augur
