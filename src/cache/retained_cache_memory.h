// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "augur/status.h"
#include "base/bus_guard.h"
#include "base/unique_fd.h"

namespace augur {

// RetainedCacheMemory is a piece of address space, of this process alone or of a file, parts of which have memory.
// Commit and Punch may run on any thread at the same time for different parts. Unmaps when destroyed. Not for deciding
// how much is right (RetainedCacheRoom).
class RetainedCacheMemory {
 public:
  // Memory of this process alone, from `huge_from` on by huge pages where the kernel has them. A failure: there is too
  // little address space.
  static Result<RetainedCacheMemory> OfProcess(uint64_t bytes, uint64_t huge_from);
  // The first `bytes` of the file, which stays the caller's and open.
  static Result<RetainedCacheMemory> OfFile(int fd, const std::string& path, uint64_t bytes);
  RetainedCacheMemory() = default;
  RetainedCacheMemory(RetainedCacheMemory&& other) noexcept;
  RetainedCacheMemory& operator=(RetainedCacheMemory&& other) noexcept;
  ~RetainedCacheMemory();

  // Afterwards the part can be read and written without SIGBUS. Memory that is there keeps its bytes; new memory is
  // zeros. A failure: there is no memory (a full file system).
  Status Commit(uint64_t offset, uint64_t bytes);
  // Where the memory from `offset` on ends: at the next hole of a file, or at the end of memory of this process. The
  // search for a hole takes longer the more memory is before it. Only Commit makes sure that memory is there.
  uint64_t CommittedUntil(uint64_t offset) const;
  // Gives the memory of the part back.
  void Punch(uint64_t offset, uint64_t bytes);

  std::byte* base() const { return base_; }
  // The file was made shorter, or a page of it could not be got: from there on, zeros of this process are read instead.
  bool lost() const { return guard_ && guard_->lost(); }

 private:
  std::byte* base_ = nullptr;
  void* mapped_ = nullptr;
  uint64_t mapped_bytes_ = 0;
  int fd_ = -1;
  std::unique_ptr<BusGuard> guard_;  // of a file
};

// RetainedCacheRoom says whether the machine has memory to give. So neither a full /dev/shm (SIGBUS) nor a memory
// cgroup's limit (an end by the kernel; posix_fallocate does not prevent it) is ever met. One thread at a time.
class RetainedCacheRoom {
 public:
  // `fd`: a file or folder of the file system that the memory comes from; -1: none. `available` as in
  // RetainedCache::Options.
  RetainedCacheRoom(int fd, std::function<uint64_t()> available);

  // What could be taken now: leaves some for others.
  uint64_t bytes();
  // May this number of bytes be taken now? Asks the file system each time, and for memory when what the last answer
  // allowed has been used up.
  bool Grant(uint64_t bytes);
  // The bytes that it leaves free in the file system, and how large that is; for messages. 0 without one.
  uint64_t left_in_folder() const { return folder_reserve_; }
  uint64_t folder_bytes() const { return folder_total_; }
  bool folder_is_less() const { return folder_is_less_; }  // of the two, it bounded bytes()

 private:
  uint64_t FolderRoom();
  uint64_t MemoryRoomNow();

  int fd_;
  std::function<uint64_t()> available_;
  uint64_t folder_total_ = 0;
  uint64_t folder_reserve_ = 0;
  uint64_t memory_reserve_ = 0;
  uint64_t granted_ = 0;
  bool folder_is_less_ = false;
};

}  // namespace augur
