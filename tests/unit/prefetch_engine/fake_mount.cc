// SPDX-License-Identifier: Apache-2.0
#include "unit/prefetch_engine/fake_mount.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/page.h"

namespace augur {

FakeMount::FakeMount(See see) : usable_(see == See::kOpens), thread_([this] { Run(); }) {}

FakeMount::~FakeMount() {
  {
    const std::lock_guard lock(mu_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

PushOutcome FakeMount::Push(EntryNumber file, uint64_t offset, std::span<const std::span<const std::byte>> pieces) {
  std::unique_lock lock(mu_);
  ++waiting_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !held_; });
  --waiting_;
  if (ended_) return PushOutcome::kEnded;
  if (!known_.contains(file)) {
    ++counts_.unknown;
    return PushOutcome::kUnknown;
  }
  EXPECT_EQ(offset % kPageBytes, 0U);
  std::string& pages = pages_[file];
  // The tests' files are pushed from their beginning on.
  EXPECT_LE(offset, pages.size());
  for (const std::span<const std::byte> piece : pieces) {
    if (offset + piece.size() > pages.size()) {
      counts_.bytes_now += offset + piece.size() - pages.size();
      pages.resize(offset + piece.size());
    }
    std::memcpy(pages.data() + offset, piece.data(), piece.size());
    offset += piece.size();
  }
  counts_.bytes_most = std::max(counts_.bytes_most, counts_.bytes_now);
  ++counts_.pushes;
  changed_.notify_all();
  return PushOutcome::kPushed;
}

void FakeMount::Erase(EntryNumber file) {
  const auto at = pages_.find(file);
  if (at == pages_.end()) return;
  counts_.bytes_now -= at->second.size();
  pages_.erase(at);
}

bool FakeMount::Drop(EntryNumber file) {
  const std::lock_guard lock(mu_);
  if (ended_) return false;
  dropped_.push_back(file);
  Erase(file);
  return true;
}

bool FakeMount::usable() const {
  const std::lock_guard lock(mu_);
  return usable_;
}

bool FakeMount::watching() const {
  const std::lock_guard lock(mu_);
  return watching_;
}

void FakeMount::Stat(std::span<const EntryNumber> files, Done done) {
  Later([this, list = std::vector<EntryNumber>(files.begin(), files.end()), done = std::move(done)] {
    {
      const std::lock_guard lock(mu_);
      if (usable_ && !forgets_) known_.insert(list.begin(), list.end());
      counts_.stats += list.size();
    }
    done();
  });
}

void FakeMount::Drop(std::span<const EntryNumber> files, Done done) {
  Later([this, list = std::vector<EntryNumber>(files.begin(), files.end()), done = std::move(done)] {
    {
      const std::lock_guard lock(mu_);
      for (const EntryNumber file : list) {
        if (!usable_) break;
        dropped_.push_back(file);
        Erase(file);
      }
    }
    if (on_drop_) on_drop_(list);
    done();
  });
}

void FakeMount::Watch(std::span<const EntryNumber> folders) {
  const std::lock_guard lock(mu_);
  counts_.watched += folders.size();
}

void FakeMount::Unwatch() {
  const std::lock_guard lock(mu_);
  counts_.watched = 0;
}

void FakeMount::Later(std::function<void()> call) {
  const std::lock_guard lock(mu_);
  calls_.push_back(std::move(call));
  changed_.notify_all();
}

void FakeMount::Run() {
  std::unique_lock lock(mu_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !calls_.empty(); });
    if (calls_.empty()) return;
    const std::function<void()> call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    call();
    lock.lock();
  }
}

void FakeMount::LookUp(EntryNumber file) {
  const std::lock_guard lock(mu_);
  if (!forgets_) known_.insert(file);
}

std::optional<std::string> FakeMount::Pages(EntryNumber file) const {
  const std::lock_guard lock(mu_);
  const auto at = pages_.find(file);
  if (at == pages_.end()) return std::nullopt;
  return at->second;
}

void FakeMount::Brought(EntryNumber file, std::string bytes) {
  const std::lock_guard lock(mu_);
  Erase(file);
  counts_.bytes_now += bytes.size();
  pages_[file] = std::move(bytes);
}

void FakeMount::ReclaimAll() {
  const std::lock_guard lock(mu_);
  pages_.clear();
  counts_.bytes_now = 0;
}

bool FakeMount::WaitFor(EntryNumber file, uint64_t bytes) const {
  std::unique_lock lock(mu_);
  return changed_.wait_for(lock, kPatience, [&] {
    const auto at = pages_.find(file);
    return at != pages_.end() && at->second.size() >= bytes;
  });
}

void FakeMount::Hold() {
  const std::lock_guard lock(mu_);
  held_ = true;
}

void FakeMount::Release() {
  const std::lock_guard lock(mu_);
  held_ = false;
  changed_.notify_all();
}

bool FakeMount::WaitUntilHeld() const {
  std::unique_lock lock(mu_);
  return changed_.wait_for(lock, kPatience, [this] { return held_ && waiting_ > 0; });
}

void FakeMount::End() {
  const std::lock_guard lock(mu_);
  ended_ = true;
  usable_ = false;
  held_ = false;
  changed_.notify_all();
}

void FakeMount::EndView() {
  const std::lock_guard lock(mu_);
  usable_ = false;
}

void FakeMount::EndWatches() {
  const std::lock_guard lock(mu_);
  watching_ = false;
}

void FakeMount::KnowNothing() {
  const std::lock_guard lock(mu_);
  forgets_ = true;
  known_.clear();
}

FakeMount::Counts FakeMount::counts() const {
  const std::lock_guard lock(mu_);
  return counts_;
}

std::vector<EntryNumber> FakeMount::dropped() const {
  const std::lock_guard lock(mu_);
  return dropped_;
}

}  // namespace augur
