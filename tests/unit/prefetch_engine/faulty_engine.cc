// SPDX-License-Identifier: Apache-2.0
#include "unit/prefetch_engine/faulty_engine.h"

#include <algorithm>
#include <cerrno>

#include "unit/prefetch_engine/fake_mount.h"

namespace augur {

void FaultyEngine::Submit(ReadRequest request) {
  bool bad = false;
  uint64_t cut = 0;
  {
    const std::lock_guard lock(mu_);
    seen_.push_back({.offset = request.offset, .bytes = request.bytes});
    bad = std::ranges::any_of(damaged_, [&](const Seen& part) {
      return request.offset < part.offset + part.bytes && part.offset < request.offset + request.bytes;
    });
    cut = cut_bytes_;
  }
  if (bad || cut > 0) {
    request.done = [bad, cut, done = std::move(request.done)](int64_t result) {
      done(bad ? -EIO : result < 0 ? result : std::max<int64_t>(0, result - static_cast<int64_t>(cut)));
    };
  }
  {
    const std::lock_guard lock(mu_);
    if (held_) {
      waiting_.push_back(std::move(request));
      changed_.notify_all();
      return;
    }
  }
  base_->Submit(std::move(request));
}

void FaultyEngine::Damage(uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mu_);
  damaged_.push_back({.offset = begin, .bytes = end - begin});
}

void FaultyEngine::Repair() {
  const std::lock_guard lock(mu_);
  damaged_.clear();
}

void FaultyEngine::CutShort(uint64_t bytes) {
  const std::lock_guard lock(mu_);
  cut_bytes_ = bytes;
}

void FaultyEngine::Hold() {
  const std::lock_guard lock(mu_);
  held_ = true;
}

void FaultyEngine::Release() {
  std::vector<ReadRequest> waiting;
  {
    const std::lock_guard lock(mu_);
    held_ = false;
    waiting.swap(waiting_);
  }
  for (ReadRequest& request : waiting) base_->Submit(std::move(request));
}

bool FaultyEngine::WaitUntilHeld(uint64_t begin, uint64_t end) const {
  std::unique_lock lock(mu_);
  return changed_.wait_for(lock, kPatience, [&] {
    return std::ranges::any_of(waiting_, [&](const ReadRequest& request) {
      return request.offset <= begin && end <= request.offset + request.bytes;
    });
  });
}

std::vector<FaultyEngine::Seen> FaultyEngine::seen() const {
  const std::lock_guard lock(mu_);
  return seen_;
}

uint64_t FaultyEngine::ReadsOf(uint64_t begin, uint64_t end) const {
  const std::lock_guard lock(mu_);
  return static_cast<uint64_t>(std::ranges::count_if(
      seen_, [&](const Seen& one) { return one.offset <= begin && end <= one.offset + one.bytes; }));
}

}  // namespace augur
