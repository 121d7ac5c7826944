// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache_writer.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "cache/disk_cache_layout.h"
#include "cache/disk_cache_sum.h"

namespace augur {
namespace {

// Hands out pieces that follow each other as if they were one.
class Gatherer {
 public:
  explicit Gatherer(DiskCacheWriter::Pieces pieces) : pieces_(pieces) {}

  void Copy(std::span<std::byte> to) {
    while (!to.empty()) {
      AUGUR_CHECK(piece_ < pieces_.size());
      const std::span<const std::byte> rest = pieces_[piece_].subspan(done_);
      const size_t bytes = std::min(rest.size(), to.size());
      if (bytes > 0) std::memcpy(to.data(), rest.data(), bytes);
      to = to.subspan(bytes);
      done_ += bytes;
      if (done_ == pieces_[piece_].size()) {
        ++piece_;
        done_ = 0;
      }
    }
  }

 private:
  DiskCacheWriter::Pieces pieces_;
  size_t piece_ = 0;
  size_t done_ = 0;  // bytes of it
};

}  // namespace

DiskCacheWriter::DiskCacheWriter(const DiskCacheFolder& folder, std::string name)
    : folder_(folder.fd()), folder_path_(folder.path()), name_(std::move(name)) {}

Result<std::unique_ptr<DiskCacheWriter>> DiskCacheWriter::Create(const DiskCacheFolder& folder, uint64_t segment_bytes,
                                                                 uint64_t log_bytes, bool direct) {
  AUGUR_CHECK(segment_bytes > kDiskCacheHeaderBytes + log_bytes && log_bytes % kDiskCachePageBytes == 0);
  uint64_t id = 0;
  if (::getrandom(&id, sizeof(id), 0) != sizeof(id)) return ErrnoStatus(errno, "random number");
  std::unique_ptr<DiskCacheWriter> writer(new DiskCacheWriter(folder, DiskCacheFolder::NameOf(id)));
  constexpr mode_t kMode = 0600;
  UniqueFd fd(::openat(folder.fd(), writer->name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
  if (!fd.valid()) return ErrnoStatus(errno, writer->path());
  writer->id_ = id;
  writer->log_slots_ = log_bytes / sizeof(DiskCacheLogSlot);
  writer->end_ = kDiskCacheHeaderBytes + log_bytes;
  const DiskCacheHeader header = MakeDiskCacheHeader(id, log_bytes);
  // The lock first: a segment with a header and without a writer may be adopted or removed. The size last: what a crash
  // leaves before the header is short.
  const auto fill = [&]() -> Status {
    if (!LockDiskCacheBytes(fd.get(), F_WRLCK, kDiskCacheWriterByte, 1)) return ErrnoStatus(errno, writer->path());
    AUGUR_TRY(WriteDiskCache(fd.get(), writer->path(), std::as_bytes(std::span(&header, 1)), 0));
    if (::ftruncate(fd.get(), static_cast<off_t>(segment_bytes)) != 0) return ErrnoStatus(errno, writer->path());
    writer->limit_ = segment_bytes;
    return writer->Start(std::move(fd), direct);
  };
  if (const Status failed = fill(); !failed.ok()) {
    ::unlinkat(folder.fd(), writer->name_.c_str(), 0);
    return failed;
  }
  return writer;
}

Result<std::unique_ptr<DiskCacheWriter>> DiskCacheWriter::Adopt(const DiskCacheFolder& folder,
                                                                DiskCacheSegment* segment, uint64_t segment_bytes,
                                                                bool direct, const DiskCacheSegment::OnFile& on_file) {
  std::unique_ptr<DiskCacheWriter> writer(new DiskCacheWriter(folder, segment->name()));
  AUGUR_TRY_ASSIGN(fd, OpenDiskCacheFile(folder.fd(), folder.path(), segment->name(), O_RDWR));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, writer->path());
  if (info.st_ino != segment->inode()) return Status(Code::kNotFound, writer->path() + ": was replaced");
  if (!LockDiskCacheBytes(fd.get(), F_WRLCK, kDiskCacheWriterByte, 1)) {
    return Status(Code::kBusy, writer->path() + ": is written by another");
  }
  // Only now is it certain that nothing is appended any more.
  AUGUR_TRY(segment->ReadLog(fd.get(), on_file));
  if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, writer->path());
  writer->id_ = segment->id();
  writer->log_slots_ = segment->log_slots();
  writer->next_slot_ = segment->next_slot();
  writer->end_ = segment->data_end();
  writer->limit_ = std::max(segment_bytes, static_cast<uint64_t>(info.st_size));
  if (writer->limit_ > static_cast<uint64_t>(info.st_size) &&
      ::ftruncate(fd.get(), static_cast<off_t>(writer->limit_)) != 0) {
    return ErrnoStatus(errno, writer->path());
  }
  AUGUR_TRY(writer->Start(std::move(fd), direct));
  return writer;
}

Status DiskCacheWriter::Start(UniqueFd fd, bool direct) {
  fd_ = std::move(fd);
  buffer_ = AllocateAligned(kDiskCachePageBytes, kDiskCacheBlockBytes);
  if (buffer_ == nullptr) return ErrnoStatus(ENOMEM, "a buffer for cached files");
  if (!direct) return Status::Ok();
  // By name, as flags belong to an open(); it may have been removed, and then the page cache does as well.
  Result<UniqueFd> again = OpenDiskCacheFile(folder_, folder_path_, name_, O_RDWR);
  struct stat one {};
  struct stat two {};
  if (again.ok() && ::fstat(fd_.get(), &one) == 0 && ::fstat(again->get(), &two) == 0 && one.st_ino == two.st_ino) {
    DiskCacheFile file;
    file.fd = std::move(again).value();
    TryDiskCacheDirect(&file);
    if (file.direct) direct_ = std::move(file.fd);
  }
  return Status::Ok();
}

// Whoever comes next needs to know where the files end; the size of one that was cut off by a crash says more than
// there is, until it is adopted.
DiskCacheWriter::~DiskCacheWriter() {
  struct stat info {};
  if (!fd_.valid() || ::fstat(fd_.get(), &info) != 0) return;
  if (next_slot_ == 0) {
    struct stat named {};
    if (::fstatat(folder_, name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_ino == info.st_ino) {
      ::unlinkat(folder_, name_.c_str(), 0);
    }
    return;
  }
  if (static_cast<uint64_t>(info.st_size) > end_) (void)!::ftruncate(fd_.get(), static_cast<off_t>(end_));
}

bool DiskCacheWriter::Fits(uint64_t file_bytes) const {
  return file_bytes > 0 && file_bytes <= kDiskCacheFileBytesMax && end_ + UpToDiskCachePage(file_bytes) <= limit_ &&
         (end_ / kDiskCachePageBytes) <= UINT32_MAX &&
         next_slot_ + DiskCacheSlots(DiskCacheBlocks(file_bytes)) <= log_slots_;
}

Status DiskCacheWriter::WriteBlock(std::span<const std::byte> block, uint64_t offset) {
  if (direct_.valid()) {
    Status written = WriteDiskCache(direct_.get(), path(), block, offset);
    // kInvalid: after a short write the rest is not aligned, or this file system takes the flag and no such write.
    if (written.code() != Code::kInvalid) return written;
    direct_.Reset();
  }
  return WriteDiskCache(fd_.get(), path(), block, offset);
}

Result<DiskCacheWriter::Written> DiskCacheWriter::Append(const DiskCacheKey& key, Pieces pieces) {
  AUGUR_CHECK(Fits(key.size));
  Gatherer from(pieces);
  Written written{.first_page = static_cast<uint32_t>(end_ / kDiskCachePageBytes), .sums = {}};
  for (uint64_t done = 0; done < key.size;) {
    const uint64_t bytes = std::min(key.size - done, kDiskCacheBlockBytes);
    const uint64_t room = UpToDiskCachePage(bytes);
    const std::span<std::byte> block(buffer_.get(), room);
    from.Copy(block.first(bytes));
    if (room > bytes) std::memset(block.data() + bytes, 0, room - bytes);
    written.sums.push_back(DiskCacheSum(block.first(bytes)));
    AUGUR_TRY(WriteBlock(block, end_ + done));
    done += bytes;
  }
  const std::vector<DiskCacheLogSlot> slots =
      EncodeDiskCacheFile(id_, {.key = key, .first_page = written.first_page, .sums = written.sums});
  AUGUR_TRY(WriteDiskCache(fd_.get(), path(), std::as_bytes(std::span(slots)),
                           kDiskCacheHeaderBytes + next_slot_ * sizeof(DiskCacheLogSlot)));
  next_slot_ += slots.size();
  end_ += UpToDiskCachePage(key.size);
  return written;
}

}  // namespace augur
