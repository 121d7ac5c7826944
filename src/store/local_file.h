// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "augur/store.h"
#include "base/unique_fd.h"

namespace augur {

// A StoredFile that is a file of this system.
class LocalFile final : public StoredFile {
 public:
  // Of a regular file. kInvalid: it is none.
  static Result<std::shared_ptr<LocalFile>> Of(UniqueFd fd, std::string path);

  // Where the memory, the size or the offset has not the alignment that O_DIRECT wants, the bytes are copied.
  Status ReadAt(std::span<std::byte> out, uint64_t offset) const override {
    bool lost = false;
    return ReadAt(out, offset, &lost);
  }
  // The same. `*lost`: it failed because the server or the mount has lost this open file (IsLost).
  Status ReadAt(std::span<std::byte> out, uint64_t offset, bool* lost) const;
  // Whether a read of fd() that failed with this errno may succeed once the file is opened anew.
  bool IsLost(int error) const;

  int fd() const { return fd_.get(); }
  const timespec& mtime() const { return mtime_; }
  // Opened with O_DIRECT: offset, length and memory of a read of fd() are multiples of `align`.
  bool direct() const { return direct_; }
  uint32_t align() const { return align_; }  // bytes, a power of two, at most kAlignMax; 1 when not direct.
  // Turns O_DIRECT on where the file system takes it with an alignment that we can serve; else leaves the file as it
  // is. Before others use it. The rule is in the source.
  void TryDirect();

 private:
  LocalFile(UniqueFd fd, std::string path, uint64_t bytes, timespec mtime);
  Status ReadAligned(std::byte* memory, uint64_t bytes, uint64_t offset, uint64_t needed, bool* lost) const;

  const UniqueFd fd_;
  const timespec mtime_;
  const bool network_;  // on a network file system
  bool direct_ = false;
  uint32_t align_ = 1;
};

}  // namespace augur
