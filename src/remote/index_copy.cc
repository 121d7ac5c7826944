// SPDX-License-Identifier: Apache-2.0
#include "remote/index_copy.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/regular_file.h"
#include "base/units.h"
#include "store/file_io.h"

namespace augur {
namespace {

// A file without a name, on the disk where there is room for temporary files, else in memory.
Result<UniqueFd> OpenNameless() {
  const char* const folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): no thread sets it
  UniqueFd fd(::open(folder != nullptr && *folder != '\0' ? folder : "/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  if (!fd.valid()) fd = UniqueFd(::memfd_create("augur-index", MFD_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "a temporary file for the index");
  return fd;
}

Result<UniqueFd> OpenNamed(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, Printable(path));
  struct stat stat {};
  if (::fstat(fd.get(), &stat) != 0) return ErrnoStatus(errno, Printable(path));
  AUGUR_TRY(CheckRegular(stat.st_mode, Printable(path)));
  return fd;
}

Status SetSize(int fd, uint64_t bytes) {
  struct stat stat {};
  if (::fstat(fd, &stat) != 0) return ErrnoStatus(errno, "the copy of the index");
  if (static_cast<uint64_t>(stat.st_size) == bytes) return Status::Ok();
  // A file of another size is not ours.
  if (stat.st_size != 0 && ::ftruncate(fd, 0) != 0) return ErrnoStatus(errno, "the copy of the index");
  if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) return ErrnoStatus(errno, "the copy of the index");
  return Status::Ok();
}

}  // namespace

Result<std::shared_ptr<IndexCopy>> IndexCopy::Open(std::string name, uint64_t bytes, const std::string& path,
                                                   Fetch fetch) {
  AUGUR_TRY_ASSIGN(fd, path.empty() ? OpenNameless() : OpenNamed(path));
  AUGUR_TRY(SetSize(fd.get(), bytes));
  std::shared_ptr<IndexCopy> copy(new IndexCopy(std::move(fd), std::move(name), bytes, std::move(fetch)));
  copy->FindWhatIsHere();
  return copy;
}

IndexCopy::IndexCopy(UniqueFd fd, std::string name, uint64_t bytes, Fetch fetch)
    : StoredFile(std::move(name), bytes),
      fd_(std::move(fd)),
      fetch_(std::move(fetch)),
      unit_count_((bytes + kUnitBytes - 1) / kUnitBytes),
      here_(std::make_unique<std::atomic<uint8_t>[]>(unit_count_)),
      missing_bytes_(bytes) {}

uint64_t IndexCopy::UnitEnd(uint64_t unit) const { return std::min((unit + 1) * kUnitBytes, bytes()); }

// What was written is data, the rest are holes.
void IndexCopy::FindWhatIsHere() {
  for (off_t at = 0;;) {
    const off_t data = ::lseek(fd_.get(), at, SEEK_DATA);
    if (data < 0) return;
    const off_t hole = ::lseek(fd_.get(), data, SEEK_HOLE);
    if (hole < 0) return;
    const auto end = static_cast<uint64_t>(hole);
    for (uint64_t unit = (static_cast<uint64_t>(data) + kUnitBytes - 1) / kUnitBytes;
         unit < unit_count_ && UnitEnd(unit) <= end; ++unit) {
      SetHere(unit);
    }
    at = hole;
  }
}

void IndexCopy::SetHere(uint64_t unit) const {
  if (here_[unit].exchange(1, std::memory_order_release) != 0) return;
  missing_bytes_.fetch_sub(UnitEnd(unit) - UnitBegin(unit), std::memory_order_release);
}

Status IndexCopy::FetchPiece(uint64_t unit, uint64_t first, uint64_t last) const {
  uint64_t begin = unit;
  uint64_t end = unit + 1;
  {
    const MutexLock lock(mu_);
    if (IsHere(unit)) return Status::Ok();
    if (fetching_.contains(unit)) {
      fetched_.Wait(mu_);
      return Status::Ok();
    }
    const auto is_free = [&](uint64_t other)
                             AUGUR_REQUIRES(mu_) { return !IsHere(other) && !fetching_.contains(other); };
    while (begin > first && is_free(begin - 1)) --begin;
    while (end < last && is_free(end)) ++end;
    for (uint64_t claimed = begin; claimed < end; ++claimed) fetching_.insert(claimed);
  }
  std::vector<std::byte> bytes(UnitEnd(end - 1) - UnitBegin(begin));
  Status status = fetch_(bytes, UnitBegin(begin), /*again=*/false);
  if (status.ok()) status = WriteAt(fd_.get(), path() + " (its copy)", bytes, UnitBegin(begin));
  const MutexLock lock(mu_);
  for (uint64_t claimed = begin; claimed < end; ++claimed) {
    if (status.ok()) SetHere(claimed);
    fetching_.erase(claimed);
  }
  fetched_.NotifyAll();
  return status;
}

Status IndexCopy::FetchDemanded(uint64_t unit) const {
  constexpr uint64_t kUnits = kDemandBytes / kUnitBytes;
  uint64_t first = unit / kUnits * kUnits;
  uint64_t units = kUnits;
  {
    const MutexLock lock(mu_);
    if (demanded_units_ > 0 && unit == demanded_end_) {
      first = unit;
      units = std::min(2 * demanded_units_, kDemandBytesMax / kUnitBytes);
    }
    demanded_units_ = units;
    demanded_end_ = first + units;
  }
  return FetchPiece(unit, first, std::min(first + units, unit_count_));
}

Status IndexCopy::ReadAt(std::span<std::byte> out, uint64_t offset) const {
  if (out.empty()) return Status::Ok();
  if (offset > bytes() || out.size() > bytes() - offset) {
    return {Code::kCorrupt, path() + ": ends at byte " + std::to_string(bytes()) + ", too early"};
  }
  const uint64_t end_unit = (offset + out.size() - 1) / kUnitBytes + 1;
  for (uint64_t unit = offset / kUnitBytes; unit < end_unit;) {
    if (IsHere(unit)) {
      ++unit;
      continue;
    }
    Status status = FetchDemanded(unit);
    // Without room for the copy the bytes come from the server each time.
    if (status.code() == Code::kNoSpace) return fetch_(out, offset, /*again=*/false);
    if (!status.ok()) return status;
  }
  return augur::ReadAt(fd_.get(), path(), out, offset);
}

Status IndexCopy::ReadAgain(std::span<std::byte> out, uint64_t offset) const {
  AUGUR_TRY(fetch_(out, offset, /*again=*/true));
  (void)WriteAt(fd_.get(), path(), out, offset);
  return Status::Ok();
}

Status IndexCopy::Fill(const std::atomic<bool>& ending) const {
  for (uint64_t unit = 0; unit < unit_count_ && !ending; ++unit) {
    const auto is_free = [&] {
      const MutexLock lock(mu_);
      return !IsHere(unit) && !fetching_.contains(unit);
    };
    if (!is_free()) continue;
    uint64_t units = 0;
    {
      const MutexLock lock(mu_);
      units = fill_units_;
      fill_units_ = std::min(2 * fill_units_, kFillBytesMax / kUnitBytes);
    }
    AUGUR_TRY(FetchPiece(unit, unit, std::min(unit + units, unit_count_)));
  }
  return Status::Ok();
}

}  // namespace augur
