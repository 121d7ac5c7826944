// SPDX-License-Identifier: Apache-2.0
#include "store/shard_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/units.h"
#include "store/catalogue.h"
#include "store/file_io.h"
#include "store/format.h"
#include "store/hash.h"
#include "store/manifest.h"

namespace augur {
namespace {

constexpr size_t kBufferBytes = kMiB;  // 1 MiB: the system call is 1 us in about 300, and the copy stays in L2 or L3

// Told to start a piece of 8 MiB at a time, the disk has long sequential requests. The writer waits for what is 64 MiB
// back: at 2 GB/s that is 30 ms of slack, and no more than that is dirty, whatever the machine's dirty limits.
constexpr uint64_t kWritebackBytes = 8 * kMiB;
constexpr uint64_t kDirtyBytesMax = 64 * kMiB;
constexpr uint64_t kPageBytes = 4096;

Status WritebackRange(int fd, const std::string& path, uint64_t begin, uint64_t end, unsigned flags) {
  if (::sync_file_range(fd, static_cast<off_t>(begin), static_cast<off_t>(end - begin), flags) == 0) {
    return Status::Ok();
  }
  // A file system that does not know it (ESPIPE, ENOSYS ...) writes when it wants; only a failed write is a failure.
  if (errno == EIO || errno == ENOSPC || errno == EDQUOT) return ErrnoStatus(errno, path);
  return Status::Ok();
}

}  // namespace

std::string SidecarName(uint64_t generation, uint32_t number) { return ShardName(generation, number) + ".catalogue"; }

ShardWriter::ShardWriter(const std::string& folder, uint64_t generation, uint32_t number)
    : generation_(generation),
      number_(number),
      path_(folder + "/" + ShardName(generation, number)),
      sidecar_path_(folder + "/" + SidecarName(generation, number)),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kBufferBytes)) {}

Status ShardWriter::Open(int flags) {
  // The sidecar first: a shard without one would be nothing that a resume can use.
  sidecar_fd_.Reset(::open(sidecar_path_.c_str(), O_RDWR | O_CLOEXEC | flags, 0644));
  if (!sidecar_fd_.valid()) return ErrnoStatus(errno, sidecar_path_);
  fd_.Reset(::open(path_.c_str(), O_RDWR | O_CLOEXEC | flags, 0644));
  if (!fd_.valid()) return ErrnoStatus(errno, path_);
  return Status::Ok();
}

Result<std::unique_ptr<ShardWriter>> ShardWriter::Create(const std::string& folder, uint64_t generation,
                                                         uint32_t number) {
  std::unique_ptr<ShardWriter> shard(new ShardWriter(folder, generation, number));
  AUGUR_TRY(shard->Open(O_CREAT | O_EXCL));
  format::ShardHeader header{};
  header.magic = format::kShardMagic;
  header.version = format::kVersion;
  header.number = number;
  header.generation = generation;
  const auto bytes = std::as_bytes(std::span(&header, 1));
  header.sum = HashBytes64(bytes.first(offsetof(format::ShardHeader, sum)));
  AUGUR_TRY(shard->Append(bytes));
  AUGUR_TRY(shard->Flush());
  AUGUR_TRY(SyncFolder(folder));
  AUGUR_TRY_ASSIGN(
      frames, FrameAppender::Start(shard->fd_.get(), shard->path_, shard->sidecar_fd_.get(), shard->sidecar_path_, 0));
  shard->frames_ = std::move(frames);
  return shard;
}

Result<std::unique_ptr<ShardWriter>> ShardWriter::Resume(const std::string& folder, uint64_t generation,
                                                         const ShardProgress& progress) {
  AUGUR_CHECK(!progress.complete);
  std::unique_ptr<ShardWriter> shard(new ShardWriter(folder, generation, progress.number));
  AUGUR_TRY(shard->Open(0));
  if (::ftruncate(shard->fd_.get(), static_cast<off_t>(progress.data_end)) != 0) {
    return ErrnoStatus(errno, shard->path_);
  }
  if (::ftruncate(shard->sidecar_fd_.get(), static_cast<off_t>(progress.catalogue_end)) != 0) {
    return ErrnoStatus(errno, shard->sidecar_path_);
  }
  shard->written_ = shard->started_ = shard->finished_ = progress.data_end;
  shard->item_count_ = progress.item_count;
  AUGUR_TRY_ASSIGN(frames, FrameAppender::Start(shard->fd_.get(), shard->path_, shard->sidecar_fd_.get(),
                                                shard->sidecar_path_, progress.catalogue_end));
  shard->frames_ = std::move(frames);
  return shard;
}

Status ShardWriter::Append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (buffered_ == 0 && bytes.size() >= kBufferBytes) {
      const size_t whole = bytes.size() / kBufferBytes * kBufferBytes;
      AUGUR_TRY(WriteAt(fd_.get(), path_, bytes.first(whole), written_));
      written_ += whole;
      AUGUR_TRY(StartWriteback());
      bytes = bytes.subspan(whole);
      continue;
    }
    const size_t part = std::min(bytes.size(), kBufferBytes - buffered_);
    std::memcpy(buffer_.get() + buffered_, bytes.data(), part);
    buffered_ += part;
    bytes = bytes.subspan(part);
    if (buffered_ == kBufferBytes) AUGUR_TRY(Flush());
  }
  return Status::Ok();
}

Status ShardWriter::Flush() {
  if (buffered_ == 0) return Status::Ok();
  AUGUR_TRY(WriteAt(fd_.get(), path_, std::span(buffer_.get(), buffered_), written_));
  written_ += buffered_;
  buffered_ = 0;
  return StartWriteback();
}

Status ShardWriter::StartWriteback() {
  const uint64_t whole = written_ / kPageBytes * kPageBytes;  // the last page is still being filled
  if (whole < started_ + kWritebackBytes) return Status::Ok();
  AUGUR_TRY(WritebackRange(fd_.get(), path_, started_, whole, SYNC_FILE_RANGE_WRITE));
  started_ = whole;
  if (started_ - finished_ <= kDirtyBytesMax) return Status::Ok();
  const uint64_t finished = started_ - kDirtyBytesMax;
  AUGUR_TRY(WritebackRange(fd_.get(), path_, finished_, finished, SYNC_FILE_RANGE_WAIT_BEFORE));
  finished_ = finished;
  return Status::Ok();
}

Status ShardWriter::Rewind(uint64_t end) {
  AUGUR_CHECK(end >= sizeof(format::ShardHeader) && end <= this->end());
  if (end >= written_) {
    buffered_ = static_cast<size_t>(end - written_);
    return Status::Ok();
  }
  buffered_ = 0;
  written_ = end;
  started_ = std::min(started_, end / kPageBytes * kPageBytes);
  finished_ = std::min(finished_, started_);
  if (::ftruncate(fd_.get(), static_cast<off_t>(end)) != 0) return ErrnoStatus(errno, path_);
  return Status::Ok();
}

Status ShardWriter::Read(uint64_t offset, std::span<std::byte> bytes) const {
  AUGUR_CHECK(offset + bytes.size() <= end());
  if (offset < written_) {
    const size_t part = static_cast<size_t>(std::min<uint64_t>(bytes.size(), written_ - offset));
    AUGUR_TRY(ReadAt(fd_.get(), path_, bytes.first(part), offset));
    bytes = bytes.subspan(part);
    offset += part;
  }
  if (!bytes.empty()) std::memcpy(bytes.data(), buffer_.get() + (offset - written_), bytes.size());
  return Status::Ok();
}

Status ShardWriter::AddFrame(std::string_view payload, uint32_t item_count) {
  AUGUR_TRY(Flush());
  AUGUR_TRY(frames_->Append(EncodeFrame(payload, item_count)));
  item_count_ += item_count;
  return Status::Ok();
}

Result<uint64_t> ShardWriter::Finish() {
  AUGUR_TRY(Flush());
  AUGUR_TRY(frames_->Drain());
  format::ShardTrailer trailer{};
  trailer.magic = format::kTrailerMagic;
  trailer.version = format::kVersion;
  trailer.number = number_;
  trailer.generation = generation_;
  trailer.catalogue_offset = written_;
  trailer.catalogue_bytes = frames_->end();
  trailer.item_count = item_count_;
  Hasher64 sum;
  for (uint64_t done = 0; done < trailer.catalogue_bytes;) {
    const auto part = std::span(buffer_.get(), std::min<uint64_t>(kBufferBytes, trailer.catalogue_bytes - done));
    AUGUR_TRY(ReadAt(sidecar_fd_.get(), sidecar_path_, part, done));
    sum.Add(part);
    AUGUR_TRY(WriteAt(fd_.get(), path_, part, written_));
    written_ += part.size();
    done += part.size();
  }
  trailer.catalogue_sum = sum.Digest();
  const auto bytes = std::as_bytes(std::span(&trailer, 1));
  trailer.sum = HashBytes64(bytes.first(offsetof(format::ShardTrailer, sum)));
  AUGUR_TRY(WriteAt(fd_.get(), path_, bytes, written_));
  written_ += bytes.size();
  AUGUR_TRY(SyncFile(fd_.get(), path_));
  if (::unlink(sidecar_path_.c_str()) != 0) return ErrnoStatus(errno, sidecar_path_);
  return written_;
}

}  // namespace augur
