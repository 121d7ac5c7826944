// SPDX-License-Identifier: Apache-2.0
#include "prefetch/read_schedule.h"

#include <algorithm>
#include <optional>
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

void ReadSchedule::Append(SharedOrder order, std::vector<bool> beside) {
  const uint32_t known = slot_count();
  Order readable;
  readable.reserve(order->size());
  for (size_t place = 0; place < order->size(); ++place) {
    const EntryNumber file = order->files()[place];
    if (records_[MeetOne(file)].place.bytes == 0) continue;
    if (!beside.empty()) beside[readable.size()] = beside[place];
    readable.push_back(file);
  }
  if (readable.size() < order->size()) order = std::make_shared<const EpochOrder>(std::move(readable));
  if (slot_count() != known) SortByAddress();
  if (order->size() == 0) return;
  epochs_.push_back({.begin = end_, .order = std::move(order), .beside = std::move(beside)});
  end_ = epochs_.back().end();
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

std::vector<SharedOrder> ReadSchedule::RestFrom(Position from) const {
  std::vector<SharedOrder> rest;
  for (const Epoch& epoch : epochs_) {
    if (from >= epoch.end()) continue;
    const uint64_t first = from - std::min(from, epoch.begin);
    if (epoch.beside.empty()) {
      rest.push_back(PartOf(epoch.order, first));
      continue;
    }
    Order files;
    for (uint64_t place = first; place < epoch.order->size(); ++place) {
      if (!epoch.beside[place]) files.push_back(epoch.order->files()[place]);
    }
    if (!files.empty()) rest.push_back(std::make_shared<const EpochOrder>(std::move(files)));
  }
  return rest;
}

Slot ReadSchedule::At(Position position) const {
  const Epoch& epoch = EpochOf(position);
  return SlotOf(epoch.order->files()[position - epoch.begin]);
}

Position ReadSchedule::Epoch::UseOf(EntryNumber file, Position from) const {
  const std::optional<uint32_t> place = order->PlaceFrom(file, static_cast<uint32_t>(from - std::min(from, begin)));
  return place ? begin + *place : kNever;
}

Position ReadSchedule::NextUse(Slot slot, Position from) const {
  for (const Epoch& epoch : epochs_) {
    const Position use = from < epoch.end() ? epoch.UseOf(FileOf(slot), from) : kNever;
    if (use != kNever) return use;
  }
  return kNever;
}

Position ReadSchedule::NextRead(Slot slot, Position from) const {
  Position use = NextUse(slot, from);
  while (use != kNever && IsBeside(use)) use = NextUse(slot, use + 1);
  return use;
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
