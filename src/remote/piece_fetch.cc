// SPDX-License-Identifier: Apache-2.0
#include "remote/piece_fetch.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace augur {

PieceFetch::PieceFetch(ShardSource& source, uint64_t bytes, std::function<void()> on_read)
    : source_(source), bytes_(bytes / ShardSource::kMargin * ShardSource::kMargin), on_read_(std::move(on_read)) {
  AUGUR_CHECK(bytes_ >= RoomFor(kBlockBytes));
}

uint64_t PieceFetch::RoomFor(uint64_t bytes) {
  constexpr uint64_t kMargin = ShardSource::kMargin;
  return (ShardSource::RoomFor(bytes) + kMargin - 1) / kMargin * kMargin;
}

void PieceFetch::Take(std::vector<WantedBlock> blocks) {
  ranges_.clear();
  next_ = 0;
  std::span<const WantedBlock> rest = blocks;
  while (!rest.empty()) {
    const uint32_t shard = rest[0].file.shard;
    const auto other = std::ranges::find_if(rest, [&](const WantedBlock& one) { return one.file.shard != shard; });
    const auto some = rest.first(static_cast<size_t>(other - rest.begin()));
    const ShardRead all = {.shard = shard, .offset = 0, .bytes = UINT64_MAX, .blocks = some, .done = {}};
    const uint64_t range_bytes_max = bytes_ - (RoomFor(kBlockBytes) - kBlockBytes);
    for (WantedRange& range : WantedRange::MissingApart(all, range_bytes_max, [](size_t) { return false; })) {
      ranges_.push_back({.shard = shard, .wanted = std::move(range)});
    }
    rest = rest.subspan(some.size());
  }
}

bool PieceFetch::BeginTurn() {
  if (memory_ == nullptr) memory_ = AllocateAligned(ShardSource::kMargin, bytes_);
  const size_t first = next_;
  parts_.clear();
  uint64_t used = 0;
  for (; memory_ != nullptr && next_ < ranges_.size(); ++next_) {
    const uint64_t room = RoomFor(ranges_[next_].wanted.end - ranges_[next_].wanted.begin);
    if (used + room > bytes_) break;
    parts_.push_back({.memory = memory_.get() + used});
    used += room;
  }
  if (parts_.empty()) {
    ranges_.clear();
    return false;
  }
  {
    const MutexLock lock(mu_);
    under_way_ = parts_.size();
    failure_ = Status::Ok();
    read_bytes_ = 0;
    begun_ = std::chrono::steady_clock::now();
  }
  for (size_t part = 0; part < parts_.size(); ++part) {
    const Range& range = ranges_[first + part];
    source_.Read({.shard = range.shard,
                  .offset = range.wanted.begin,
                  .bytes = range.wanted.end - range.wanted.begin,
                  .blocks = range.wanted.blocks,
                  .memory = parts_[part].memory,
                  .tag = this,
                  .done = [this, part](const ShardReadResult& result) { OnRead(part, result); }});
  }
  return true;
}

void PieceFetch::OnRead(size_t part, const ShardReadResult& result) {
  {
    const MutexLock lock(mu_);
    if (result.status.ok()) {
      parts_[part].memory += result.skip;
      parts_[part].good = true;
    } else {
      failure_ = result.status;
    }
    read_bytes_ += result.read_bytes;
    if (--under_way_ > 0) return;
    ended_ = std::chrono::steady_clock::now();
  }
  on_read_();
}

bool PieceFetch::read() const {
  const MutexLock lock(mu_);
  return !ranges_.empty() && under_way_ == 0;
}

void PieceFetch::ForEachBlock(const std::function<void(const WantedBlock&, std::span<const std::byte>)>& use) const {
  const size_t first = next_ - parts_.size();
  for (size_t part = 0; part < parts_.size(); ++part) {
    if (!parts_[part].good) continue;
    const WantedRange& range = ranges_[first + part].wanted;
    for (const WantedBlock& block : range.blocks) {
      use(block, {parts_[part].memory + (OffsetOf(block) - range.begin), BytesOf(block)});
    }
  }
}

Status PieceFetch::failure() const {
  const MutexLock lock(mu_);
  return failure_;
}

std::chrono::milliseconds PieceFetch::took() const {
  const MutexLock lock(mu_);
  return std::chrono::duration_cast<std::chrono::milliseconds>(ended_ - begun_);
}

uint64_t PieceFetch::read_bytes() const {
  const MutexLock lock(mu_);
  return read_bytes_;
}

}  // namespace augur
