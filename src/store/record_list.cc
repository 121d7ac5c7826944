// SPDX-License-Identifier: Apache-2.0
#include "store/record_list.h"

#include <algorithm>
#include <atomic>
#include <tuple>

#include "store/parallel.h"

namespace augur {
namespace {

// Keys that a thread gathers before it puts them into the list: 24 KiB.
constexpr uint64_t kPieceEntries = 1024;

}  // namespace

RecordList::RecordList(const Tree& tree, uint64_t count, int threads) : tree_(tree), keys_(count) {
  std::atomic<size_t> used = 0;
  ForEachPiece(threads, tree.entry_count(), kPieceEntries, [&](uint64_t begin, uint64_t end) {
    std::vector<ListedRecord> piece;
    for (uint64_t number = begin; number < end; ++number) {
      const Result<Entry> entry = tree.Get(number);
      if (!entry.ok() || entry->type != EntryType::kFile || entry->size == 0) continue;
      piece.push_back({.offset = entry->offset, .number = number, .shard = entry->shard});
    }
    const size_t at = used.fetch_add(piece.size());
    // There can be more than were counted only if a program writes to the index meanwhile.
    if (at >= keys_.size()) return;
    const std::span<ListedRecord> room = std::span(keys_).subspan(at);
    std::copy_n(piece.begin(), std::min(piece.size(), room.size()), room.begin());
  });
  keys_.resize(std::min<size_t>(used, keys_.size()));

  std::sort(keys_.begin(), keys_.end(), [](const ListedRecord& a, const ListedRecord& b) {
    return std::tie(a.shard, a.offset, a.number) < std::tie(b.shard, b.offset, b.number);
  });
  for (size_t begin = 0, end = 0; begin < keys_.size(); begin = end) {
    const auto same_place = [&](const ListedRecord& key) {
      return key.shard == keys_[begin].shard && key.offset == keys_[begin].offset;
    };
    for (end = begin + 1; end < keys_.size() && same_place(keys_[end]);) ++end;
    keys_[begin].first = true;
    if (end - begin == 1) continue;
    const auto run = std::span(keys_).subspan(begin, end - begin);
    run[0].first = false;
    std::sort(run.begin(), run.end(), [&](const ListedRecord& a, const ListedRecord& b) {
      return std::pair(SizeOf(a), a.number) < std::pair(SizeOf(b), b.number);
    });
    run[0].first = true;
    for (size_t i = 1; i < run.size(); ++i) run[i].first = SizeOf(run[i]) != SizeOf(run[i - 1]);
  }
}

uint64_t RecordList::SizeOf(const ListedRecord& key) const {
  const Result<Entry> entry = tree_.Get(key.number);
  return entry.ok() ? entry->size : 0;
}

std::pair<size_t, size_t> RecordList::OfShard(uint32_t shard) const {
  const auto begin =
      std::partition_point(keys_.begin(), keys_.end(), [&](const ListedRecord& k) { return k.shard < shard; });
  const auto end = std::partition_point(begin, keys_.end(), [&](const ListedRecord& k) { return k.shard == shard; });
  return {begin - keys_.begin(), end - keys_.begin()};
}

std::optional<size_t> RecordList::Find(uint32_t shard, uint64_t offset, uint64_t size) const {
  const auto before = [&](const ListedRecord& key) {
    const auto place = std::tie(key.shard, key.offset);
    if (place != std::tie(shard, offset)) return place < std::tie(shard, offset);
    return SizeOf(key) < size;
  };
  const auto found = std::partition_point(keys_.begin(), keys_.end(), before);
  if (found == keys_.end() || found->shard != shard || found->offset != offset || SizeOf(*found) != size) {
    return std::nullopt;
  }
  return found - keys_.begin();
}

size_t RecordList::EndOfShared(size_t position) const {
  size_t end = position + 1;
  while (end < keys_.size() && !keys_[end].first) ++end;
  return end;
}

}  // namespace augur
