// SPDX-License-Identifier: Apache-2.0
#include "store/write_pump.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "store/file_io.h"

namespace augur {
namespace {

// What is written through the page cache is written out at once and waited for 64 MiB later, so that no more than that
// is dirty, whatever the machine's dirty limits. Where the call is not known, or forbidden, the system writes when it
// wants. The wait tells of a write that has failed, with whatever errno the file system has for it (ESTALE, say), and
// the kernel tells that once: a later fdatasync(2) is silent about it.
Status StartWriteback(int fd, const std::string& path, uint64_t offset, size_t bytes) {
  constexpr uint64_t kDirtyBytesMax = 64 * kMiB;
  const auto range = [&](uint64_t begin, uint64_t end, unsigned flags) {
    return ::sync_file_range(fd, static_cast<off_t>(begin), static_cast<off_t>(end - begin), flags) == 0;
  };
  if (!range(offset, offset + bytes, SYNC_FILE_RANGE_WRITE)) {
    const bool failed = errno == EIO || errno == ENOSPC || errno == EDQUOT;
    return failed ? ErrnoStatus(errno, path) : Status::Ok();
  }
  const uint64_t end = offset < kDirtyBytesMax ? 0 : offset - kDirtyBytesMax + bytes;
  const uint64_t begin = end < WritePump::kBufferBytes ? 0 : end - WritePump::kBufferBytes;
  if (begin < end && !range(begin, end, SYNC_FILE_RANGE_WAIT_BEFORE)) return ErrnoStatus(errno, path);
  return Status::Ok();
}

Status WriteJob(const WritePump::Target& target, std::span<const std::byte> bytes, uint64_t offset) {
  if (target.direct_fd >= 0) {
    const ssize_t done = ::pwrite(target.direct_fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done == static_cast<ssize_t>(bytes.size())) return Status::Ok();
    // EINVAL: a disk that wants more than kAlign. Whatever else it was, the usual way succeeds or says.
  }
  AUGUR_TRY(WriteAt(target.fd, target.path, bytes, offset));
  return StartWriteback(target.fd, target.path, offset, bytes.size());
}

}  // namespace

void WritePump::Free::operator()(std::byte* memory) const { ::munmap(memory, kBufferBytes); }

Result<std::unique_ptr<WritePump>> WritePump::Start() {
  std::unique_ptr<WritePump> pump(new WritePump());
  for (auto& buffer : pump->memory_) {
    void* memory = ::mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return ErrnoStatus(errno, "buffers for writing");
    buffer.reset(static_cast<std::byte*>(memory));
  }
  {
    const MutexLock lock(pump->mu_);
    for (const auto& buffer : pump->memory_) pump->free_.push_back(buffer.get());
  }
  try {
    for (size_t i = 0; i < kThreadCount; ++i) {
      pump->threads_.emplace_back([raw = pump.get()] { raw->Run(); });
    }
  } catch (const std::system_error& error) {
    return Status(Code::kNoSpace, std::string("cannot start a thread: ") + error.what());
  }
  return pump;
}

WritePump::~WritePump() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

Result<std::byte*> WritePump::Take() {
  const MutexLock lock(mu_);
  while (free_.empty() && status_.ok()) changed_.Wait(mu_);
  AUGUR_TRY(status_);
  std::byte* buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void WritePump::GiveBack(std::byte* buffer) {
  const MutexLock lock(mu_);
  free_.push_back(buffer);
}

uint64_t WritePump::Submit(std::byte* buffer, size_t bytes, const Target& target, uint64_t offset) {
  AUGUR_CHECK(bytes > 0 && bytes <= kBufferBytes && bytes % kAlign == 0 && offset % kAlign == 0);
  const MutexLock lock(mu_);
  queue_.push_back({buffer, bytes, target, offset, ++submitted_});
  changed_.NotifyAll();
  return submitted_;
}

bool WritePump::IsOver(uint64_t number) const {
  return (queue_.empty() || queue_.front().number > number) &&
         std::none_of(in_flight_.begin(), in_flight_.end(), [&](uint64_t n) { return n <= number; });
}

Status WritePump::WaitUntil(uint64_t number) {
  const MutexLock lock(mu_);
  while (!IsOver(number)) changed_.Wait(mu_);
  return status_;
}

void WritePump::Run() {
  mu_.Lock();
  for (;;) {
    while (queue_.empty() && !stop_) changed_.Wait(mu_);
    if (queue_.empty()) break;
    const Job job = std::move(queue_.front());
    queue_.pop_front();
    in_flight_.push_back(job.number);
    mu_.Unlock();
    Status status = WriteJob(job.target, std::span(job.buffer, job.bytes), job.offset);
    mu_.Lock();
    std::erase(in_flight_, job.number);
    free_.push_back(job.buffer);
    if (status_.ok()) status_ = std::move(status);
    changed_.NotifyAll();
  }
  mu_.Unlock();
}

}  // namespace augur
