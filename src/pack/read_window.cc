// SPDX-License-Identifier: Apache-2.0
#include "pack/read_window.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "decode/head_probe.h"
#include "decode/image_probe.h"
#include "store/sha256.h"

namespace augur {
namespace {

// Of a header that its first piece does not hold.
constexpr uint64_t kProbeStepBytes = uint64_t{1} << 20;

}  // namespace

Result<std::unique_ptr<ReadWindow>> ReadWindow::Make(const TreeSource& source, unsigned threads) {
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
    Result<std::unique_ptr<SourceFile>> file = source_.OpenFile(found);
    if (!file.ok()) {
      PushReady(found, file.status(), false);
      return true;
    }
    offered_ = std::move(file).value();
    offered_bytes_ = 0;
  }
  const uint64_t size = offered_->bytes();
  while (slots_.size() < kWindowSlotsMax) {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(size - offered_bytes_, kPieceBytes));
    WindowSlot slot;
    slot.room = arena_.Take(bytes + 1);
    if (slot.room.empty()) return false;
    slot.found = found;
    slot.attributes = offered_->attributes();
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
  AUGUR_TRY_ASSIGN(file, source_.OpenFile(slot.found));
  AUGUR_TRY_ASSIGN(n, file->ReadAt(slot.room, 0));
  // A file that grew since the walk does not fit into its room.
  if (n != file->bytes()) return Changed(slot);
  AUGUR_TRY(file->CheckUnchanged());
  slot.bytes = slot.room.first(n);
  slot.attributes = file->attributes();
  slot.attributes.place = slot.found.attributes.place;
  slot.hashes = HashRecord(slot.bytes);
  slot.image = ProbeImage(slot.bytes);
  return {};
}

Status ReadWindow::ReadPiece(WindowSlot& slot) const {
  const size_t wanted = slot.room.size() - 1;
  AUGUR_TRY_ASSIGN(n, slot.large->ReadAt(slot.last ? slot.room : slot.room.first(wanted), slot.offset));
  if (n != wanted) return Changed(slot);
  // Each piece looks again, so that a change is known with the first piece that may have seen it.
  AUGUR_TRY(slot.large->CheckUnchanged());
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
  const uint64_t size = slot.large->bytes();
  std::vector<std::byte> more;
  for (uint64_t offset = slot.bytes.size(); !probe.done() && offset < size; offset += more.size()) {
    more.resize(std::min(size - offset, kProbeStepBytes));
    AUGUR_TRY_ASSIGN(n, slot.large->ReadAt(more, offset));
    if (n != more.size()) return Changed(slot);
    probe.Add(more);
  }
  return probe.Finish();
}

Status ReadWindow::Changed(const WindowSlot& slot) const {
  return {Code::kChanged, source_.Describe(slot.found.path) + ": changed while it was read"};
}

}  // namespace augur
