// SPDX-License-Identifier: Apache-2.0
#include "store/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace augur {

Result<MappedFile> MappedFile::CreateUnlinked(const WriteFolder& folder, const std::string& name) {
  AUGUR_TRY(folder.Remove(name));
  AUGUR_TRY_ASSIGN(file, Create(folder, name));
  AUGUR_TRY(folder.Remove(name));
  return file;
}

Result<MappedFile> MappedFile::Create(const WriteFolder& folder, const std::string& name) {
  AUGUR_TRY_ASSIGN(fd, folder.MakeFile(name, 0644));
  return MappedFile(folder.PathOf(name), std::move(fd));
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  Unmap();
  path_ = std::move(other.path_);
  fd_ = std::move(other.fd_);
  data_ = std::exchange(other.data_, nullptr);
  capacity_ = std::exchange(other.capacity_, 0);
  return *this;
}

MappedFile::~MappedFile() { Unmap(); }

void MappedFile::Unmap() {
  if (data_ != nullptr) ::munmap(data_, capacity_);
  data_ = nullptr;
}

Status MappedFile::Grow(uint64_t bytes) {
  if (bytes <= capacity_) return Status::Ok();
  // A quarter more each time: growing to n bytes allocates in O(log n) steps; no step wastes more than 64 MiB of disk.
  const uint64_t step = std::clamp(capacity_ / 4, kMiB, 64 * kMiB);
  const uint64_t wanted = std::max(bytes, capacity_ + step);
  return Allocate((wanted + kMiB - 1) / kMiB * kMiB);
}

Status MappedFile::Allocate(uint64_t bytes) {
  AUGUR_CHECK(bytes >= capacity_);
  if (bytes == capacity_) return Status::Ok();
  int error = EINTR;
  while (error == EINTR) {
    error = ::posix_fallocate(fd_.get(), static_cast<off_t>(capacity_), static_cast<off_t>(bytes - capacity_));
  }
  if (error != 0) return ErrnoStatus(error, path_ + ": cannot allocate " + FormatSize(bytes));
  void* data = data_ == nullptr ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0)
                                : ::mremap(data_, capacity_, bytes, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) return ErrnoStatus(errno, path_ + ": cannot map " + FormatSize(bytes));
  data_ = static_cast<std::byte*>(data);
  capacity_ = bytes;
  return Status::Ok();
}

void MappedFile::Release() const {
  if (data_ != nullptr) ::madvise(data_, capacity_, MADV_DONTNEED);
}

Status MappedFile::Sync() {
  while (::fsync(fd_.get()) != 0) {
    if (errno != EINTR) return ErrnoStatus(errno, path_);
  }
  return Status::Ok();
}

}  // namespace augur
