// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "store/write_folder.h"

namespace augur {

// MappedFile is a file that a writer fills through a mapping. Its blocks are allocated before they can be touched, so a
// full disk is a failure of Grow or Allocate and never a SIGBUS. One thread at a time. Owns the descriptor and the
// mapping, not the name of the file. Not for reading stores.
class MappedFile {
 public:
  // Makes FOLDER/NAME and unlinks it at once, so that it dies with the process. Whatever had the name is removed.
  static Result<MappedFile> CreateUnlinked(const WriteFolder& folder, const std::string& name);
  // Makes a new, empty file. kExists when there is one.
  static Result<MappedFile> Create(const WriteFolder& folder, const std::string& name);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // Makes at least `bytes` usable, and some more so that growing byte by byte costs little. May move data().
  Status Grow(uint64_t bytes);
  // Makes the file exactly this long. May move data(). REQUIRES: bytes >= capacity().
  Status Allocate(uint64_t bytes);
  // Lets go of the memory behind the mapping, which the kernel has in its page cache and maps again at the next touch.
  // Pointers and bytes stay good. Without this a process that walks through a large file looks as large as the file.
  void Release() const;
  // Waits until everything is on disk.
  Status Sync();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  uint64_t capacity() const { return capacity_; }
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

 private:
  MappedFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  void Unmap();

  std::string path_;  // for messages
  UniqueFd fd_;
  std::byte* data_ = nullptr;
  uint64_t capacity_ = 0;  // bytes of the file and of the mapping
};

}  // namespace augur
