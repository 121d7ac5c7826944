// SPDX-License-Identifier: Apache-2.0
#include "pack/read_window.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "decode/head_probe.h"
#include "decode/image_probe.h"
#include "store/sha256.h"

namespace augur {
namespace {

// Reads up to `bytes` from `offset` on; less only at the end of the file. -errno on failure.
int64_t ReadFully(int fd, std::span<std::byte> bytes, uint64_t offset) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -errno;
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return static_cast<int64_t>(done);
}

// Of a header that its first piece does not hold.
constexpr uint64_t kProbeStepBytes = uint64_t{1} << 20;

bool SameTime(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

}  // namespace

Result<std::unique_ptr<ReadWindow>> ReadWindow::Make(const SourceFolder& source, unsigned threads) {
  AUGUR_TRY_ASSIGN(arena, RingArena::Make(kWindowBytes));
  std::unique_ptr<ReadWindow> window(new ReadWindow(source, std::move(arena)));
  for (unsigned i = 0; i < threads; ++i) window->threads_.emplace_back([&window = *window] { window.Work(); });
  return window;
}

ReadWindow::~ReadWindow() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
    queue_.clear();
    work_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

bool ReadWindow::Offer(const Found& found) {
  if (slots_.size() >= kWindowSlotsMax) return false;
  if (found.kind != FoundKind::kFile) {
    PushReady(found, {}, false);
    return true;
  }
  if (offered_ != nullptr || found.size > kWholeFileBytesMax) return OfferPieces(found);
  WindowSlot slot;
  slot.room = arena_.Take(found.size + 1);  // one byte more shows a file that has grown
  if (slot.room.empty()) return false;
  slot.found = found;
  PushRead(std::move(slot));
  return true;
}

bool ReadWindow::OfferResumed(const Found& found) {
  if (slots_.size() >= kWindowSlotsMax) return false;
  PushReady(found, {}, true);
  return true;
}

bool ReadWindow::OfferPieces(const Found& found) {
  if (offered_ == nullptr) {
    auto large = std::make_shared<LargeFile>();
    Result<UniqueFd> fd = source_.OpenFile(found.path, &large->info);
    if (!fd.ok()) {
      PushReady(found, fd.status(), false);
      return true;
    }
    large->fd = std::move(fd).value();
    ::posix_fadvise(large->fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    offered_ = std::move(large);
    offered_bytes_ = 0;
  }
  const auto size = static_cast<uint64_t>(offered_->info.st_size);
  while (slots_.size() < kWindowSlotsMax) {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(size - offered_bytes_, kPieceBytes));
    WindowSlot slot;
    slot.room = arena_.Take(bytes + 1);
    if (slot.room.empty()) return false;
    slot.found = found;
    slot.attributes = AttributesOf(offered_->info);
    slot.attributes.place = found.attributes.place;
    slot.large = offered_;
    slot.offset = offered_bytes_;
    slot.first = offered_bytes_ == 0;
    offered_bytes_ += bytes;
    slot.last = offered_bytes_ == size;
    const bool last = slot.last;
    PushRead(std::move(slot));
    if (last) {
      offered_ = nullptr;
      return true;
    }
  }
  return false;
}

void ReadWindow::PushReady(const Found& found, Status status, bool resumed) {
  WindowSlot slot;
  slot.found = found;
  slot.status = std::move(status);
  slot.resumed = resumed;
  slot.ready = true;
  slots_.push_back(std::move(slot));
}

void ReadWindow::PushRead(WindowSlot slot) {
  slots_.push_back(std::move(slot));  // a deque: the others stay where they are
  const MutexLock lock(mu_);
  queue_.push_back(&slots_.back());
  work_.NotifyOne();
}

const WindowSlot& ReadWindow::Front() {
  AUGUR_CHECK(!slots_.empty());
  const WindowSlot& slot = slots_.front();
  const MutexLock lock(mu_);
  awaited_ = &slot;
  while (!slot.ready) ready_.Wait(mu_);
  awaited_ = nullptr;
  return slot;
}

void ReadWindow::Pop() {
  if (!slots_.front().room.empty()) arena_.FreeOldest();
  slots_.pop_front();
}

void ReadWindow::Work() {
  for (;;) {
    WindowSlot* slot = nullptr;
    {
      const MutexLock lock(mu_);
      while (queue_.empty() && !stop_) work_.Wait(mu_);
      if (stop_) return;
      slot = queue_.front();
      queue_.pop_front();
    }
    slot->status = slot->large == nullptr ? ReadWhole(*slot) : ReadPiece(*slot);
    const MutexLock lock(mu_);
    slot->ready = true;
    if (awaited_ == slot) ready_.NotifyOne();
  }
}

Status ReadWindow::ReadWhole(WindowSlot& slot) const {
  const std::string& path = slot.found.path;
  struct stat info = {};
  AUGUR_TRY_ASSIGN(fd, source_.OpenFile(path, &info));
  const int64_t n = ReadFully(fd.get(), slot.room, 0);
  if (n < 0) return ErrnoStatus(static_cast<int>(-n), source_.Describe(path));
  // A file that grew since the walk does not fit into its room.
  if (n != info.st_size) return Status(Code::kChanged, source_.Describe(path) + ": changed while it was read");
  AUGUR_TRY(CheckUnchanged(fd.get(), info, path));
  slot.bytes = slot.room.first(static_cast<size_t>(n));
  slot.attributes = AttributesOf(info);
  slot.attributes.place = slot.found.attributes.place;
  slot.hashes = HashRecord(slot.bytes);
  slot.image = ProbeImage(slot.bytes);
  return {};
}

Status ReadWindow::ReadPiece(WindowSlot& slot) const {
  const std::string& path = slot.found.path;
  const int fd = slot.large->fd.get();
  const size_t wanted = slot.room.size() - 1;
  const int64_t n = ReadFully(fd, slot.last ? slot.room : slot.room.first(wanted), slot.offset);
  if (n < 0) return ErrnoStatus(static_cast<int>(-n), source_.Describe(path));
  if (n != static_cast<int64_t>(wanted)) {
    return Status(Code::kChanged, source_.Describe(path) + ": changed while it was read");
  }
  // Each piece looks again, so that a change is known with the first piece that may have seen it.
  AUGUR_TRY(CheckUnchanged(fd, slot.large->info, path));
  slot.bytes = slot.room.first(wanted);
  slot.hashes.blocks = HashBlocks(slot.bytes);
  if (!slot.first) return {};
  AUGUR_TRY_ASSIGN(image, ProbeHead(slot));
  slot.image = image;
  return {};
}

// The header of an image may be longer than the first piece of its file.
Result<ImageInfo> ReadWindow::ProbeHead(const WindowSlot& slot) const {
  HeadProbe probe;
  probe.Add(slot.bytes);
  const auto size = static_cast<uint64_t>(slot.large->info.st_size);
  std::vector<std::byte> more;
  for (uint64_t offset = slot.bytes.size(); !probe.done() && offset < size; offset += more.size()) {
    more.resize(std::min(size - offset, kProbeStepBytes));
    const int64_t n = ReadFully(slot.large->fd.get(), more, offset);
    if (n < 0) return ErrnoStatus(static_cast<int>(-n), source_.Describe(slot.found.path));
    if (n != static_cast<int64_t>(more.size())) {
      return Status(Code::kChanged, source_.Describe(slot.found.path) + ": changed while it was read");
    }
    probe.Add(more);
  }
  return probe.Finish();
}

Status ReadWindow::CheckUnchanged(int fd, const struct stat& before, const std::string& path) const {
  struct stat after = {};
  if (::fstat(fd, &after) != 0) return ErrnoStatus(errno, source_.Describe(path));
  if (after.st_size != before.st_size || !SameTime(after.st_mtim, before.st_mtim) ||
      !SameTime(after.st_ctim, before.st_ctim)) {
    return Status(Code::kChanged, source_.Describe(path) + ": changed while it was read");
  }
  return {};
}

}  // namespace augur
