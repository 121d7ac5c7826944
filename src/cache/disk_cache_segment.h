// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "augur/status.h"
#include "cache/disk_cache_file.h"
#include "cache/disk_cache_folder.h"
#include "cache/disk_cache_log.h"

namespace augur {

// DiskCacheSegment is a segment that is read: its descriptor, and how far its log is known. `file` and MarkUsed from
// any thread; the rest by one at a time (the cache's mutex for looking). A segment that is removed while it is open can
// be read until the last reference to `file` is gone. Not for writing files: DiskCacheWriter.
class DiskCacheSegment {
 public:
  // kNotFound: it is gone. kBusy: it has no header yet. Else what OpenDiskCacheFile and ReadDiskCacheHeader say.
  static Result<std::shared_ptr<DiskCacheSegment>> Open(const DiskCacheFolder& folder, const std::string& name,
                                                        bool direct);

  using OnFile = std::function<void(const DiskCacheLogFile&)>;
  // Reads the entries that were appended to the log since the last call, and hands over each file that lies within the
  // segment. `fd`: the file, without O_DIRECT. kIo: it cannot be read.
  Status ReadLog(int fd, const OnFile& on_file);
  // The same by name. kNotFound: this name is not its any more.
  Status ReadLog(const DiskCacheFolder& folder, const OnFile& on_file);
  // Makes the log forget the file, so that no later run finds it. kNotFound: it is not in it.
  Status Kill(const DiskCacheFolder& folder, const DiskCacheKey& key, uint32_t first_page) const;

  // Found something in it: no more than a store to memory.
  void MarkUsed() {
    if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
  }
  bool marked() const { return used_.load(std::memory_order_relaxed); }
  // Turns marks into what others see: the time of last use, stamped on the file every ten minutes at most, and a lock
  // that keeps others from removing it. The lock is let go after `rest_ns` without use.
  void FlushUsage(int64_t now_ns, int64_t rest_ns);

  const std::string& name() const { return name_; }
  uint64_t id() const { return header_.id; }
  uint64_t inode() const { return inode_; }
  const std::shared_ptr<const DiskCacheFile>& file() const { return file_; }
  uint64_t log_slots() const { return header_.log_bytes / sizeof(DiskCacheLogSlot); }
  uint64_t data_begin() const { return kDiskCacheHeaderBytes + header_.log_bytes; }
  uint64_t data_end() const { return data_end_; }     // of the files known, up to a page
  uint64_t next_slot() const { return used_slots_; }  // of the log
  uint64_t bad_entries() const { return bad_ + bad_tail_; }
  int64_t last_used_ns() const { return last_used_ns_; }  // in this run; 0: never

  uint32_t number = 0;          // the cache's own, given by DiskCacheSegments
  int64_t seen_changed_ns = 0;  // DiskCacheFolder::Segment::changed_ns when the log was read last

 private:
  std::string name_;
  DiskCacheHeader header_{};
  uint64_t inode_ = 0;
  std::shared_ptr<const DiskCacheFile> file_;
  std::atomic<bool> used_ = false;

  uint64_t known_slots_ = 0;  // the log is read on from here
  uint64_t used_slots_ = 0;
  uint64_t data_end_ = 0;
  uint64_t bad_ = 0;       // entries before known_slots_
  uint64_t bad_tail_ = 0;  // entries after; they may be ones that are being written
  int64_t last_used_ns_ = 0;
  int64_t stamped_ns_ = 0;
  bool locked_ = false;
};

}  // namespace augur
