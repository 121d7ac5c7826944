// SPDX-License-Identifier: Apache-2.0
#include "prefetch/read_schedule.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace augur {

Slot ReadSchedule::MeetOne(EntryNumber file) {
  const auto [at, fresh] = slots_.try_emplace(file, slot_count());
  if (fresh) {
    records_.push_back({.place = files_(file), .file = file, .rank = 0});
    file_bytes_ += records_.back().place.bytes;
    if (records_.back().place.bytes > 0) ++files_with_bytes_;
  }
  return at->second;
}

void ReadSchedule::Meet(const Order& files) {
  for (const EntryNumber file : files) MeetOne(file);
  SortByAddress();
}

void ReadSchedule::Append(const Order& order) {
  const uint32_t known = slot_count();
  Epoch epoch;
  epoch.begin = end_;
  epoch.reads.reserve(order.size());
  for (const EntryNumber file : order) {
    const Slot slot = MeetOne(file);
    if (records_[slot].place.bytes > 0) epoch.reads.push_back(slot);
  }
  if (slot_count() != known) SortByAddress();
  if (epoch.reads.empty()) return;
  epoch.uses.reserve(epoch.reads.size());
  for (uint32_t i = 0; i < epoch.reads.size(); ++i) epoch.uses.emplace_back(epoch.reads[i], i);
  std::sort(epoch.uses.begin(), epoch.uses.end());
  end_ = epoch.end();
  epochs_.push_back(std::move(epoch));
}

void ReadSchedule::PopBefore(Position position) {
  while (!epochs_.empty() && epochs_.front().end() <= position) epochs_.pop_front();
}

void ReadSchedule::Clear() { epochs_.clear(); }

const ReadSchedule::Epoch& ReadSchedule::EpochOf(Position position) const {
  const auto after = std::upper_bound(epochs_.begin(), epochs_.end(), position,
                                      [](Position value, const Epoch& epoch) { return value < epoch.begin; });
  AUGUR_CHECK(after != epochs_.begin());
  const Epoch& epoch = *std::prev(after);
  AUGUR_CHECK(position < epoch.end());
  return epoch;
}

std::pair<Position, Position> ReadSchedule::EpochAround(Position position) const {
  const Epoch& epoch = EpochOf(position);
  return {epoch.begin, epoch.end()};
}

Slot ReadSchedule::At(Position position) const {
  const Epoch& epoch = EpochOf(position);
  return epoch.reads[position - epoch.begin];
}

Position ReadSchedule::Epoch::UseOf(Slot slot, uint32_t first) const {
  const auto use = std::lower_bound(uses.begin(), uses.end(), std::pair(slot, first));
  return use != uses.end() && use->first == slot ? begin + use->second : kNever;
}

Position ReadSchedule::NextUse(Slot slot, Position from) const {
  for (const Epoch& epoch : epochs_) {
    if (epoch.end() <= from) continue;
    const auto first = static_cast<uint32_t>(from > epoch.begin ? from - epoch.begin : 0);
    const Position use = epoch.UseOf(slot, first);
    if (use != kNever) return use;
  }
  return kNever;
}

Slot ReadSchedule::SlotOf(EntryNumber file) const {
  const auto at = slots_.find(file);
  return at == slots_.end() ? kNoSlot : at->second;
}

void ReadSchedule::SortByAddress() {
  by_address_.resize(records_.size());
  for (Slot slot = 0; slot < slot_count(); ++slot) by_address_[slot] = slot;
  // Files of the same bytes share a record, so the slot decides in the end.
  std::sort(by_address_.begin(), by_address_.end(), [this](Slot left, Slot right) {
    const FilePlace& a = records_[left].place;
    const FilePlace& b = records_[right].place;
    return std::tie(a.shard, a.offset, left) < std::tie(b.shard, b.offset, right);
  });
  for (uint32_t rank = 0; rank < by_address_.size(); ++rank) records_[by_address_[rank]].rank = rank;
}

}  // namespace augur
