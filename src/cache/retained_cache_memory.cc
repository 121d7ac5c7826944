// SPDX-License-Identifier: Apache-2.0
#include "cache/retained_cache_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/memory.h"
#include "base/units.h"
#include "cache/retained_cache_layout.h"

namespace augur {
namespace {

// What stays free in the file system: a quarter, at most 4 GiB. /dev/shm is also where data loaders hand over their
// batches: 16 workers with two batches each of 64 images of 3 x 224 x 224 floats have 1.2 GiB there.
constexpr uint64_t kFolderReserveMax = 4 * kGiB;
// What stays free of memory: an eighth of what was free in the beginning, 16 MiB at least, 512 MiB at most.
constexpr uint64_t kMemoryReserveMin = 16 * kMiB;
constexpr uint64_t kMemoryReserveMax = 512 * kMiB;
// Taken before memory is asked for again (it takes 0.1 to 0.3 ms to read the files of the cgroups, as long as it takes
// the kernel to clear 1 MiB): at most this, and at most half of what there is, as another daemon may do the same.
constexpr uint64_t kGrantMax = 32 * kMiB;

}  // namespace

Result<RetainedCacheMemory> RetainedCacheMemory::OfProcess(uint64_t bytes, uint64_t huge_from) {
  RetainedCacheMemory memory;
  const uint64_t mapped_bytes = bytes + kSlabBytes;  // so that slabs can begin where huge pages do
  void* const mapped =
      ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return ErrnoStatus(errno, "memory for the cache: " + FormatSize(bytes) + " of addresses");
  void* base = mapped;
  size_t space = mapped_bytes;
  memory.base_ = static_cast<std::byte*>(std::align(kSlabBytes, bytes, base, space));
  memory.mapped_ = mapped;
  memory.mapped_bytes_ = mapped_bytes;
  // Not the tables: a huge page for each item touched would be memory that is not counted.
  ::madvise(memory.base_ + huge_from, bytes - huge_from, MADV_HUGEPAGE);
  ::madvise(mapped, mapped_bytes, MADV_DONTDUMP);
  return memory;
}

Result<RetainedCacheMemory> RetainedCacheMemory::OfFile(int fd, const std::string& path, uint64_t bytes) {
  RetainedCacheMemory memory;
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return ErrnoStatus(errno, path + ": " + FormatSize(bytes) + " of addresses");
  ::madvise(mapped, bytes, MADV_DONTDUMP);
  ::madvise(mapped, bytes, MADV_DONTFORK);  // a mapping keeps the locks of its descriptor, as the descriptor does
  memory.base_ = static_cast<std::byte*>(mapped);
  memory.mapped_ = mapped;
  memory.mapped_bytes_ = bytes;
  memory.fd_ = fd;
  memory.guard_ = std::make_unique<BusGuard>(memory.base_, bytes);
  return memory;
}

RetainedCacheMemory::RetainedCacheMemory(RetainedCacheMemory&& other) noexcept { *this = std::move(other); }

RetainedCacheMemory& RetainedCacheMemory::operator=(RetainedCacheMemory&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(fd_, other.fd_);
  std::swap(guard_, other.guard_);
  return *this;
}

RetainedCacheMemory::~RetainedCacheMemory() {
  guard_.reset();
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

Status RetainedCacheMemory::Commit(uint64_t offset, uint64_t bytes) {
  if (fd_ >= 0) {
    int error = 0;
    do {
      error = ::posix_fallocate(fd_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (error == EINTR);
    if (error != 0) return ErrnoStatus(error, "memory for the cache");
  }
  // Maps it at once: half the time of a fault for each page (64 MiB: 15 ms, and 27 ms). A kernel before 5.14 does not
  // know it; then the pages come as they are written.
  if (::madvise(base_ + offset, bytes, MADV_POPULATE_WRITE) != 0 && errno == ENOMEM) {
    return ErrnoStatus(errno, "memory for the cache");
  }
  return Status::Ok();
}

uint64_t RetainedCacheMemory::CommittedUntil(uint64_t offset) const {
  if (fd_ < 0) return mapped_bytes_;  // memory of this process is got as it is used
  const off_t hole = ::lseek(fd_, static_cast<off_t>(offset), SEEK_HOLE);
  return hole < 0 ? offset : std::min(static_cast<uint64_t>(hole), mapped_bytes_);
}

void RetainedCacheMemory::Punch(uint64_t offset, uint64_t bytes) {
  if (fd_ >= 0) {
    ::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } else {
    ::madvise(base_ + offset, bytes, MADV_DONTNEED);
  }
}

RetainedCacheRoom::RetainedCacheRoom(int fd, std::function<uint64_t()> available)
    : fd_(fd), available_(std::move(available)) {
  if (!available_) {
    available_ = [] {
      const Result<MemoryRoom> room = MachineMemory();
      return room.ok() ? room->available_bytes : UINT64_MAX;  // /proc is not there: nothing is known
    };
  }
  struct statvfs space {};
  if (fd_ >= 0 && ::fstatvfs(fd_, &space) == 0) {
    folder_total_ = uint64_t{space.f_blocks} * space.f_frsize;
    folder_reserve_ = std::min(folder_total_ / 4, kFolderReserveMax);
  }
  const uint64_t memory = available_();
  memory_reserve_ = memory == UINT64_MAX ? 0 : std::clamp(memory / 8, kMemoryReserveMin, kMemoryReserveMax);
}

uint64_t RetainedCacheRoom::FolderRoom() {
  if (fd_ < 0) return UINT64_MAX;
  struct statvfs space {};
  if (::fstatvfs(fd_, &space) != 0) return 0;
  if (space.f_blocks == 0) return UINT64_MAX;  // a tmpfs without a size
  const uint64_t free = uint64_t{space.f_bavail} * space.f_frsize;
  return free > folder_reserve_ ? free - folder_reserve_ : 0;
}

uint64_t RetainedCacheRoom::MemoryRoomNow() {
  const uint64_t memory = available_();
  if (memory == UINT64_MAX) return memory;
  return memory > memory_reserve_ ? memory - memory_reserve_ : 0;
}

uint64_t RetainedCacheRoom::bytes() {
  const uint64_t folder = FolderRoom();
  const uint64_t memory = MemoryRoomNow();
  folder_is_less_ = folder < memory;
  return std::min(folder, memory);
}

bool RetainedCacheRoom::Grant(uint64_t bytes) {
  if (FolderRoom() < bytes) return false;
  if (granted_ < bytes) {
    const uint64_t room = MemoryRoomNow();
    if (room < bytes) {
      granted_ = 0;
      return false;
    }
    granted_ = std::max(bytes, std::min(room / 2, kGrantMax));
  }
  granted_ -= bytes;
  return true;
}

}  // namespace augur
