// SPDX-License-Identifier: Apache-2.0
#include "store/shard_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/regular_file.h"
#include "base/units.h"
#include "store/catalogue.h"
#include "store/file_io.h"
#include "store/format.h"
#include "store/hash.h"
#include "store/manifest.h"

namespace augur {
namespace {

// Writes within the size of a file can be in flight together; each one that extends it waits for the one before (ext4:
// 0.9 GB/s instead of 1.8 and more). 16 MiB is 8 writes, and what a writer that shares a full disk takes too much at
// most.
constexpr uint64_t kPreallocateBytes = 16 * kMiB;

constexpr uint64_t RoundDown(uint64_t value) { return value / WritePump::kAlign * WritePump::kAlign; }

}  // namespace

std::string SidecarName(uint64_t generation, uint32_t number) { return ShardName(generation, number) + ".catalogue"; }

ShardWriter::ShardWriter(WritePump& pump, const WriteFolder& folder, uint64_t generation, uint32_t number)
    : pump_(pump),
      folder_(folder),
      generation_(generation),
      number_(number),
      path_(folder.PathOf(ShardName(generation, number))),
      sidecar_path_(folder.PathOf(SidecarName(generation, number))) {}

ShardWriter::~ShardWriter() {
  frames_.reset();
  (void)pump_.WaitUntil(last_write_);  // the descriptors are the writes'
  if (buffer_ != nullptr) pump_.GiveBack(buffer_);
}

Status ShardWriter::Open(bool is_new) {
  const auto open = [&](const std::string& name, UniqueFd& fd) -> Status {
    AUGUR_TRY_ASSIGN(opened, is_new ? folder_.MakeFile(name, 0644) : folder_.OpenFile(name, O_RDWR));
    fd = std::move(opened);
    return Status::Ok();
  };
  // The sidecar first: a shard without one would be nothing that a resume can use.
  AUGUR_TRY(open(SidecarName(generation_, number_), sidecar_fd_));
  const std::string name = ShardName(generation_, number_);
  AUGUR_TRY(open(name, fd_));
  if (Result<UniqueFd> direct = folder_.OpenFile(name, O_WRONLY | O_DIRECT); direct.ok()) {
    struct stat same {};
    struct stat other {};
    const bool is_ours = ::fstat(fd_.get(), &same) == 0 && ::fstat(direct->get(), &other) == 0 &&
                         same.st_ino == other.st_ino && same.st_dev == other.st_dev;
    if (is_ours) direct_fd_ = std::move(direct).value();
  }
  AUGUR_TRY_ASSIGN(sync_fd, OpenFound(fd_.get(), folder_.fd(), name, O_RDONLY, path_));
  sync_fd_ = std::move(sync_fd);
  preallocates_ = direct_fd_.valid();
  AUGUR_TRY_ASSIGN(buffer, pump_.Take());
  buffer_ = buffer;
  return Status::Ok();
}

Status ShardWriter::StartFrames(uint64_t sidecar_end) {
  AUGUR_TRY_ASSIGN(frames,
                   FrameAppender::Start(pump_, sync_fd_.get(), path_, sidecar_fd_.get(), sidecar_path_, sidecar_end));
  frames_ = std::move(frames);
  return Status::Ok();
}

Result<std::unique_ptr<ShardWriter>> ShardWriter::Create(WritePump& pump, const WriteFolder& folder,
                                                         uint64_t generation, uint64_t base_generation,
                                                         uint32_t number) {
  std::unique_ptr<ShardWriter> shard(new ShardWriter(pump, folder, generation, number));
  AUGUR_TRY(shard->Open(/*is_new=*/true));
  format::ShardHeader header{};
  header.magic = format::kShardMagic;
  header.version = format::kVersion;
  header.number = number;
  header.generation = generation;
  header.base_generation = base_generation;
  const auto bytes = std::as_bytes(std::span(&header, 1));
  header.sum = HashBytes64(bytes.first(offsetof(format::ShardHeader, sum)));
  AUGUR_TRY(shard->Append(bytes));
  AUGUR_TRY(folder.Sync());
  AUGUR_TRY(shard->StartFrames(0));
  return shard;
}

Result<std::unique_ptr<ShardWriter>> ShardWriter::Resume(WritePump& pump, const WriteFolder& folder,
                                                         uint64_t generation, const ShardProgress& progress) {
  AUGUR_CHECK(!progress.complete);
  std::unique_ptr<ShardWriter> shard(new ShardWriter(pump, folder, generation, progress.number));
  AUGUR_TRY(shard->Open(/*is_new=*/false));
  AUGUR_TRY(shard->Load(progress.data_end));
  if (::ftruncate(shard->sidecar_fd_.get(), static_cast<off_t>(progress.catalogue_end)) != 0) {
    return ErrnoStatus(errno, shard->sidecar_path_);
  }
  shard->item_count_ = progress.item_count;
  AUGUR_TRY(shard->StartFrames(progress.catalogue_end));
  return shard;
}

Status ShardWriter::Load(uint64_t end) {
  base_ = RoundDown(end);
  filled_ = static_cast<size_t>(end - base_);
  AUGUR_TRY(ReadAt(fd_.get(), path_, std::span(buffer_, filled_), base_));
  allocated_end_ = std::min(allocated_end_, end);
  if (::ftruncate(fd_.get(), static_cast<off_t>(end)) != 0) return ErrnoStatus(errno, path_);
  return Status::Ok();
}

Status ShardWriter::Append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t part = std::min(bytes.size(), WritePump::kBufferBytes - filled_);
    std::memcpy(buffer_ + filled_, bytes.data(), part);
    filled_ += part;
    bytes = bytes.subspan(part);
    if (filled_ == WritePump::kBufferBytes) AUGUR_TRY(Push());
  }
  return Status::Ok();
}

void ShardWriter::Preallocate(uint64_t end) {
  if (!preallocates_ || end <= allocated_end_) return;
  const uint64_t begin = std::max(allocated_end_, base_);
  if (::fallocate(fd_.get(), 0, static_cast<off_t>(begin), static_cast<off_t>(kPreallocateBytes)) == 0) {
    allocated_end_ = begin + kPreallocateBytes;
  } else {
    preallocates_ = false;  // not known here, or the disk is nearly full: the writes themselves will tell
  }
}

Status ShardWriter::Push() {
  const size_t whole = static_cast<size_t>(RoundDown(filled_));
  if (whole == 0) return Status::Ok();
  AUGUR_TRY_ASSIGN(next, pump_.Take());
  std::memcpy(next, buffer_ + whole, filled_ - whole);
  Preallocate(base_ + whole);
  last_write_ = pump_.Submit(std::exchange(buffer_, next), whole, {direct_fd_.get(), fd_.get(), path_}, base_);
  submitted_[submitted_count_++ % submitted_.size()] = {last_write_, base_, base_ + whole};
  base_ += whole;
  filled_ -= whole;
  return Status::Ok();
}

Status ShardWriter::Flush() {
  AUGUR_TRY(Push());
  // The block will be written again when it is whole; the kernel then drops its page before it lets a direct write
  // pass.
  return WriteAt(fd_.get(), path_, std::span(buffer_, filled_), base_);
}

Status ShardWriter::Rewind(uint64_t end) {
  AUGUR_CHECK(end >= sizeof(format::ShardHeader) && end <= this->end());
  if (end >= base_) {
    filled_ = static_cast<size_t>(end - base_);
    return Status::Ok();
  }
  AUGUR_TRY(pump_.WaitUntil(last_write_));
  return Load(end);
}

Status ShardWriter::Read(uint64_t offset, std::span<std::byte> bytes) {
  AUGUR_CHECK(offset + bytes.size() <= end());
  if (offset < base_) {
    const size_t part = static_cast<size_t>(std::min<uint64_t>(bytes.size(), base_ - offset));
    uint64_t last = 0;  // of the writes that these bytes are in
    for (const Submitted& write : submitted_) {
      if (write.begin < offset + part && write.end > offset) last = std::max(last, write.number);
    }
    if (last != 0) AUGUR_TRY(pump_.WaitUntil(last));
    AUGUR_TRY(ReadAt(fd_.get(), path_, bytes.first(part), offset));
    bytes = bytes.subspan(part);
    offset += part;
  }
  if (!bytes.empty()) std::memcpy(bytes.data(), buffer_ + (offset - base_), bytes.size());
  return Status::Ok();
}

Status ShardWriter::AddFrame(std::string_view payload, uint32_t item_count) {
  AUGUR_TRY(Flush());
  AUGUR_TRY(frames_->Append(EncodeFrame(payload, item_count), last_write_));
  item_count_ += item_count;
  return Status::Ok();
}

Result<uint64_t> ShardWriter::Finish() {
  AUGUR_TRY(frames_->Drain());
  format::ShardTrailer trailer{};
  trailer.magic = format::kTrailerMagic;
  trailer.version = format::kVersion;
  trailer.number = number_;
  trailer.generation = generation_;
  trailer.catalogue_offset = end();
  trailer.catalogue_bytes = frames_->end();
  trailer.item_count = item_count_;
  Hasher64 sum;
  std::array<std::byte, 64 * kKiB> piece;
  for (uint64_t done = 0; done < trailer.catalogue_bytes;) {
    const auto part = std::span(piece).first(std::min<uint64_t>(piece.size(), trailer.catalogue_bytes - done));
    AUGUR_TRY(ReadAt(sidecar_fd_.get(), sidecar_path_, part, done));
    sum.Add(part);
    AUGUR_TRY(Append(part));
    done += part.size();
  }
  trailer.catalogue_sum = sum.Digest();
  const auto bytes = std::as_bytes(std::span(&trailer, 1));
  trailer.sum = HashBytes64(bytes.first(offsetof(format::ShardTrailer, sum)));
  AUGUR_TRY(Append(bytes));
  AUGUR_TRY(Flush());
  AUGUR_TRY(pump_.WaitUntil(last_write_));
  // What was set aside and not needed.
  if (::ftruncate(fd_.get(), static_cast<off_t>(end())) != 0) return ErrnoStatus(errno, path_);
  AUGUR_TRY(SyncFile(sync_fd_.get(), path_));
  AUGUR_TRY(folder_.Remove(SidecarName(generation_, number_)));
  return end();
}

}  // namespace augur
