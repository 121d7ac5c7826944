// SPDX-License-Identifier: Apache-2.0
// How a disk cache keeps up with what is in its folder.
#include <sys/resource.h>

#include <ctime>
#include <utility>

#include "base/units.h"
#include "cache/disk_cache.h"
#include "cache/disk_cache_policy.h"

namespace augur {
namespace {

// The kernel stamps files with the time of its last tick, 10 ms at most ago: what is written within the same tick as a
// look leaves no trace. So a file is looked at again until its stamp is older than this.
constexpr int64_t kSettledNs = 1'000'000'000;

// Half of the descriptors are left to the rest of the daemon.
size_t SegmentsMax() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur / 2 : SIZE_MAX;
}

int64_t SystemNow() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

uint32_t DiskCache::Add(const SegmentRef& segment) {
  const MutexLock lock(segments_mu_);
  const auto number = static_cast<uint32_t>(segments_.size());
  segments_.push_back(segment);
  numbers_[segment->name()] = number;
  return number;
}

void DiskCache::Drop(uint32_t number) {
  SegmentRef segment;
  {
    const MutexLock lock(segments_mu_);
    std::swap(segment, segments_[number]);
  }
  numbers_.erase(segment->name());
  index_.EraseSegment(number);
}

DiskCacheSegment::OnFile DiskCache::Indexer(uint32_t number) {
  return [this, number](const DiskCacheLogFile& file) { index_.Insert(file.key, number, file.first_page, file.sums); };
}

void DiskCache::NoteOnce(const std::string& name, const std::string& text, std::vector<std::string>& notes) {
  if (noted_.insert(name).second) notes.push_back(text);
}

void DiskCache::LookAt(const DiskCacheFolder::Segment& found, int64_t now_ns, std::vector<std::string>& notes) {
  const auto known = numbers_.find(found.name);
  SegmentRef segment;
  uint32_t number = 0;
  if (known != numbers_.end()) {
    number = known->second;
    segment = Get(number);
    if (segment->inode() != found.inode) {  // another file by that name: it was copied back
      Drop(number);
      segment = nullptr;
    } else if (segment->seen_changed_ns == found.changed_ns) {
      return;
    }
  }
  if (!segment) {
    if (numbers_.size() >= SegmentsMax()) {
      NoteOnce("descriptors",
               folder_.path() + ": not all cached files are used, they are in more than " +
                   std::to_string(SegmentsMax()) +
                   " files, half of what may be open: raise the limit (ulimit -n, LimitNOFILE)",
               notes);
      return;
    }
    Result<SegmentRef> opened = DiskCacheSegment::Open(folder_, found.name, options_.direct);
    if (!opened.ok()) {
      // Gone again, or being made, is as usual.
      if (opened.status().code() != Code::kNotFound && opened.status().code() != Code::kBusy) {
        NoteOnce(found.name, opened.status().text(), notes);
      }
      return;
    }
    segment = std::move(opened).value();
    number = Add(segment);
  }
  const Status read = segment->ReadLog(folder_, Indexer(number));
  if (read.code() == Code::kNotFound) {
    Drop(number);
  } else if (read.code() == Code::kPermission) {  // it is not to be trusted any more
    Drop(number);
    NoteOnce(found.name, read.text(), notes);
  } else if (!read.ok()) {
    NoteOnce(found.name, read.text(), notes);  // what was read of it before is still used
  } else if (now_ns - found.changed_ns > kSettledNs) {
    segment->seen_changed_ns = found.changed_ns;
  }
}

void DiskCache::Look(std::vector<std::string>& notes) {
  looked_ns_ = Now();
  const int64_t now_ns = SystemNow();
  const Result<Listing> listing = folder_.List();
  if (!listing.ok()) {
    NoteOnce("", listing.status().text(), notes);
    return;
  }
  uint64_t total = 0;
  std::set<std::string> there;
  for (const DiskCacheFolder::Segment& found : *listing) {
    total += found.bytes;
    there.insert(found.name);
    LookAt(found, now_ns, notes);
  }
  const std::map<std::string, uint32_t> numbers = numbers_;
  uint64_t bad = 0;
  for (const auto& [name, number] : numbers) {
    if (there.contains(name)) {
      const SegmentRef segment = Get(number);
      segment->FlushUsage(looked_ns_, kDiskCacheRestNs);
      bad += segment->bad_entries();
    } else {
      Drop(number);
    }
  }
  if (index_full_ || index_.left_out() > 0) {
    NoteOnce("index",
             folder_.path() + ": not all cached files are used or kept: " + FormatSize(options_.index_bytes_max) +
                 " of memory= have room for the index of " + std::to_string(index_.file_count()) +
                 " files: raise memory=",
             notes);
  }
  const MutexLock lock(counters_mu_);
  counters_.bytes = total;
  counters_.bad_entries = bad;
}

void DiskCache::KillForgotten() {
  std::vector<Place> forgotten;
  {
    const MutexLock lock(forgotten_mu_);
    std::swap(forgotten, forgotten_);
  }
  if (!folder_.writable().ok()) return;
  for (const Place& place : forgotten) {
    if (const SegmentRef segment = Get(place.segment)) {
      // It failed, or it is gone already: then the next run finds it, and finds out.
      (void)segment->Kill(folder_, place.key, static_cast<uint32_t>(place.offset / kDiskCachePageBytes));
    }
  }
}

bool DiskCache::Refresh(std::vector<std::string>& notes) {
  const MutexLock lock(look_mu_);
  const int64_t now_ns = Now();
  if (now_ns >= looked_ns_ && now_ns - looked_ns_ < int64_t{options_.look_ms} * 1'000'000) return false;
  KillForgotten();
  Look(notes);
  return true;
}

}  // namespace augur
