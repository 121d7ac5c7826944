// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache_watch.h"

#include <sys/resource.h>

#include <ctime>
#include <utility>

#include "base/units.h"
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

void DiskCacheWatch::NoteOnce(const std::string& name, const std::string& text, std::vector<std::string>& notes) {
  if (noted_.insert(name).second) notes.push_back(text);
}

void DiskCacheWatch::LookAt(const DiskCacheFolder::Segment& found, int64_t system_ns, std::vector<std::string>& notes) {
  DiskCacheSegments::Ref segment = segments_.Find(found.name);
  if (segment) {
    if (segment->inode() != found.inode) {  // another file by that name: it was copied back
      segments_.Drop(*segment);
      segment = nullptr;
    } else if (segment->seen_changed_ns == found.changed_ns) {
      return;
    }
  }
  if (!segment) {
    if (segments_.count() >= SegmentsMax()) {
      NoteOnce("descriptors",
               folder_.path() + ": not all cached files are used, they are in more than " +
                   std::to_string(SegmentsMax()) +
                   " files, half of what may be open: raise the limit (ulimit -n, LimitNOFILE)",
               notes);
      return;
    }
    Result<DiskCacheSegments::Ref> opened = DiskCacheSegment::Open(folder_, found.name, options_.direct);
    if (!opened.ok()) {
      // Gone again, or being made, is as usual.
      if (opened.status().code() != Code::kNotFound && opened.status().code() != Code::kBusy) {
        NoteOnce(found.name, opened.status().text(), notes);
      }
      return;
    }
    segment = std::move(opened).value();
    segments_.Add(segment);
  }
  const Status read = segments_.ReadLog(*segment);
  if (read.code() == Code::kNotFound) {
    segments_.Drop(*segment);
  } else if (read.code() == Code::kPermission) {  // it is not to be trusted any more
    segments_.Drop(*segment);
    NoteOnce(found.name, read.text(), notes);
  } else if (!read.ok()) {
    NoteOnce(found.name, read.text(), notes);  // what was read of it before is still used
  } else if (system_ns - found.changed_ns > kSettledNs) {
    segment->seen_changed_ns = found.changed_ns;
  }
}

bool DiskCacheWatch::Look(int64_t now_ns, std::vector<std::string>& notes) {
  if (now_ns >= looked_ns_ && now_ns - looked_ns_ < int64_t{options_.look_ms} * 1'000'000) return false;
  looked_ns_ = now_ns;
  segments_.KillForgotten();
  const int64_t system_ns = SystemNow();
  const Result<std::vector<DiskCacheFolder::Segment>> listing = folder_.List();
  if (!listing.ok()) {
    NoteOnce("", listing.status().text(), notes);
    return true;
  }
  std::set<std::string> there;
  for (const DiskCacheFolder::Segment& found : *listing) {
    there.insert(found.name);
    LookAt(found, system_ns, notes);
  }
  uint64_t bad = 0;
  for (const DiskCacheSegments::Ref& segment : segments_.All()) {
    if (there.contains(segment->name())) {
      segment->FlushUsage(now_ns, kDiskCacheRestNs);
      bad += segment->bad_entries();
    } else {
      segments_.Drop(*segment);
    }
  }
  if (index_.left_out() > 0) {
    NoteOnce("index",
             folder_.path() + ": not all cached files are used or kept: " + FormatSize(options_.index_bytes_max) +
                 " of memory= have room for the index of " + std::to_string(index_.file_count()) +
                 " files: raise memory=",
             notes);
  }
  segments_.folder_bytes = DiskCacheFolder::BytesOf(*listing);
  segments_.bad_entries = bad;
  return true;
}

}  // namespace augur
