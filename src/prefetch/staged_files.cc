// SPDX-License-Identifier: Apache-2.0
#include "prefetch/staged_files.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace augur {
namespace {

// Opens are told by another process within milliseconds; where it gets no processor, later.
constexpr uint64_t kOpenToldUs = 2'000'000;

}  // namespace

std::vector<BlockRef> StagedFiles::BlocksOf(EntryNumber file) const {
  const auto held = held_.find(file);
  return held != held_.end() ? held->second : std::vector<BlockRef>();
}

std::vector<BlockRef> StagedFiles::Take(EntryNumber file) {
  const auto held = held_.find(file);
  if (held == held_.end()) return {};
  std::vector<BlockRef> blocks = std::move(held->second);
  held_.erase(held);
  return blocks;
}

void StagedFiles::Used(EntryNumber file, bool missed, uint64_t now_us) {
  const std::optional<uint64_t> since_us = fetched_.Used(file, missed);
  if (since_us) statistics_.Record(Histogram::kLeadTimeUs, now_us - std::min(now_us, *since_us));
}

void StagedFiles::Dropped(EntryNumber file, bool opens_seen, uint64_t now_us) {
  fetched_.Dropped(file, !opens_seen);
  if (!Holds(file) && fetched_.LetGo(file)) fetched_.Doubt(file, now_us);
}

void StagedFiles::LetGo(EntryNumber file) {
  if (!Holds(file) && fetched_.LetGo(file)) CountWasted(file);
}

void StagedFiles::CountUnopened(uint64_t now_us) {
  const uint64_t before_us = now_us - std::min(now_us, kOpenToldUs);
  while (true) {
    const std::optional<EntryNumber> file = fetched_.TakeWasted(before_us);
    if (!file) return;
    CountWasted(*file);
  }
}

void StagedFiles::CountWasted(EntryNumber file) {
  const Result<ViewFile> in_view = files_.FileOf(file);
  if (in_view.ok()) statistics_.Add(Stat::kWastedBytes, in_view->size);
}

}  // namespace augur
