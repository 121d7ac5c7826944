// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache_segments.h"

#include <utility>

namespace augur {
namespace {

// What waits to be written down as wrong; a disk that gives back nothing but rubbish must not fill the memory.
constexpr size_t kForgottenMax = 4096;

}  // namespace

DiskCacheSegments::Ref DiskCacheSegments::Get(uint32_t number) const {
  const MutexLock lock(mu_);
  return by_number_[number];
}

DiskCacheSegments::Ref DiskCacheSegments::Find(const std::string& name) const {
  const MutexLock lock(mu_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<DiskCacheSegments::Ref> DiskCacheSegments::All() const {
  const MutexLock lock(mu_);
  std::vector<Ref> all;
  all.reserve(by_name_.size());
  for (const auto& [name, segment] : by_name_) all.push_back(segment);
  return all;
}

size_t DiskCacheSegments::count() const {
  const MutexLock lock(mu_);
  return by_name_.size();
}

void DiskCacheSegments::Add(const Ref& segment) {
  const MutexLock lock(mu_);
  segment->number = static_cast<uint32_t>(by_number_.size());
  by_number_.push_back(segment);
  by_name_[segment->name()] = segment;
}

void DiskCacheSegments::Drop(const DiskCacheSegment& segment) {
  {
    const MutexLock lock(mu_);
    by_number_[segment.number] = nullptr;
    by_name_.erase(segment.name());
  }
  index_.EraseSegment(segment.number);
}

Status DiskCacheSegments::ReadLog(DiskCacheSegment& segment) {
  return segment.ReadLog(folder_, [&](const DiskCacheLogFile& file) { Index(segment.number, file); });
}

void DiskCacheSegments::Index(uint32_t number, const DiskCacheLogFile& file) {
  index_.Insert(file.key, number, file.first_page, file.sums);
}

bool DiskCacheSegments::Forget(const DiskCacheKey& key, uint32_t number, uint32_t first_page) {
  if (!index_.Erase(key, number, first_page)) return false;
  const MutexLock lock(mu_);
  if (forgotten_.size() < kForgottenMax) forgotten_.push_back({.key = key, .number = number, .first_page = first_page});
  return true;
}

void DiskCacheSegments::KillForgotten() {
  std::vector<Forgotten> forgotten;
  {
    const MutexLock lock(mu_);
    std::swap(forgotten, forgotten_);
  }
  if (!folder_.writable().ok()) return;
  for (const Forgotten& file : forgotten) {
    // It failed, or it is gone already: then the next run finds it, and finds out.
    if (const Ref segment = Get(file.number)) (void)segment->Kill(folder_, file.key, file.first_page);
  }
}

}  // namespace augur
