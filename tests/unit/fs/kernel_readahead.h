// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace augur {

// The page cache of one file as Linux fills it (6.18, mm/readahead.c): which READs reach a FUSE daemon when programs
// read the file by pread, each through an open file of its own. Pages are never taken back, unless Forget does.
class KernelReadahead {
 public:
  using SendRead = std::function<void(uint64_t offset, uint64_t bytes)>;

  // `most`: pages that are read ahead at one time (read_ahead_kb).
  KernelReadahead(uint64_t pages, uint64_t most, size_t open_files, SendRead send)
      : cached_(pages, false), marked_(pages, false), files_(open_files), most_(most), send_(std::move(send)) {}

  // A program reads the bytes through this open file.
  void Read(size_t open_file, uint64_t offset, uint64_t bytes);
  void Forget(uint64_t first, uint64_t end);
  uint64_t cached_pages() const;

 private:
  // struct file_ra_state.
  struct File {
    uint64_t start = 0;
    uint64_t size = 0;
    uint64_t async_size = 0;
    uint64_t last = UINT64_MAX;  // page of the last byte that was read
  };

  void ReadMissing(File& file, uint64_t page, uint64_t wanted);
  void ReadOn(File& file, uint64_t page, uint64_t wanted);
  void Bring(uint64_t first, uint64_t pages, uint64_t ahead);
  uint64_t NextSize(uint64_t size) const;
  uint64_t FirstSize(uint64_t wanted) const;

  std::vector<bool> cached_;
  std::vector<bool> marked_;  // PG_readahead
  std::vector<File> files_;
  const uint64_t most_;
  const SendRead send_;
};

}  // namespace augur
