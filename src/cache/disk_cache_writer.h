// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "base/aligned_memory.h"
#include "cache/disk_cache_folder.h"
#include "cache/disk_cache_segment.h"

namespace augur {

// DiskCacheWriter appends files to one segment, which no other writer has as long as it lives. One thread at a time.
// Each call may wait for the disk; nothing is synced. The segment's size is what it may grow to. The destructor makes
// it as short as its files, or removes it when it has none. Not for deciding how large a segment may be, nor whether
// there is room for one.
class DiskCacheWriter {
 public:
  using Pieces = std::span<const std::span<const std::byte>>;

  // A new segment of `segment_bytes`. `log_bytes` of them are for its log.
  static Result<std::unique_ptr<DiskCacheWriter>> Create(const DiskCacheFolder& folder, uint64_t segment_bytes,
                                                         uint64_t log_bytes, bool direct);
  // Goes on with a segment that another run has left; its log is read on first, each file that is new is handed to
  // `on_file`. It may grow to `segment_bytes`, or to what it is, if that is more. kBusy: another daemon writes to it.
  static Result<std::unique_ptr<DiskCacheWriter>> Adopt(const DiskCacheFolder& folder, DiskCacheSegment* segment,
                                                        uint64_t segment_bytes, bool direct,
                                                        const DiskCacheSegment::OnFile& on_file);
  ~DiskCacheWriter();
  DiskCacheWriter(const DiskCacheWriter&) = delete;
  DiskCacheWriter& operator=(const DiskCacheWriter&) = delete;

  const std::string& name() const { return name_; }
  bool Fits(uint64_t file_bytes) const;

  struct Written {
    uint32_t first_page = 0;
    std::vector<uint64_t> sums;
  };
  // Writes the file, then its log entry, so that a file is in the log when all of its bytes are in the segment.
  // `pieces` together have key.size bytes. After a failure nothing more may be appended. kNoSpace: the disk or a quota
  // is full. REQUIRES: Fits(key.size).
  Result<Written> Append(const DiskCacheKey& key, Pieces pieces);

 private:
  DiskCacheWriter(const DiskCacheFolder& folder, std::string name);
  Status Start(UniqueFd fd, bool direct);
  Status WriteBlock(std::span<const std::byte> block, uint64_t offset);
  std::string path() const { return folder_path_ + "/" + name_; }

  int folder_;  // the DiskCacheFolder's, which outlives this
  std::string folder_path_;
  std::string name_;
  UniqueFd fd_;           // has the lock; the log is written through the page cache
  UniqueFd direct_;       // files are not, where the file system takes O_DIRECT: they would push out pages in use
  AlignedMemory buffer_;  // a block
  uint64_t id_ = 0;
  uint64_t log_slots_ = 0;
  uint64_t next_slot_ = 0;
  uint64_t end_ = 0;    // where the next file begins
  uint64_t limit_ = 0;  // size of the file
};

}  // namespace augur
