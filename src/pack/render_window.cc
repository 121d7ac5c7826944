// SPDX-License-Identifier: Apache-2.0
#include "pack/render_window.h"

#include <utility>

#include "base/check.h"
#include "base/thread.h"
#include "base/units.h"
#include "decode/image_decoder.h"
#include "decode/image_probe.h"
#include "store/sha256.h"
#include "views/render.h"

namespace augur {
namespace {

// They wait for the disk, and hash at some GB/s: enough for a disk far away, and little beside what decodes.
constexpr unsigned kReaders = 4;

}  // namespace

Result<std::unique_ptr<RenderWindow>> RenderWindow::Start(const Store& store, const ViewSpec& spec, unsigned decoders) {
  AUGUR_CHECK(decoders > 0);
  std::unique_ptr<RenderWindow> window(new RenderWindow(store, spec));
  for (unsigned i = 0; i < kReaders + decoders; ++i) {
    RenderWindow* const self = window.get();
    AUGUR_TRY_ASSIGN(thread, i < kReaders ? StartThread("read", [self] { self->ReadRecords(); })
                                          : StartThread("decode", [self] { self->RenderFiles(); }));
    window->threads_.push_back(std::move(thread));
  }
  return window;
}

RenderWindow::~RenderWindow() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
    to_read_wake_.NotifyAll();
    to_render_wake_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

bool RenderWindow::Offer(const ViewItem& item, bool resumed) {
  const bool rendered = item.role == ViewRole::kRendered;
  const bool reads = !resumed && item.entry.type == EntryType::kFile && item.role != ViewRole::kAbsent &&
                     (rendered || item.entry.size <= kWholeFileBytesMax);
  const MutexLock lock(mu_);
  if (slots_.size() >= kSlotsMax) return false;
  if (reads && record_bytes_ > 0 && record_bytes_ + item.entry.size > kRecordBytesMax) return false;
  RenderSlot& slot = slots_.emplace_back();  // a deque: the others stay where they are
  slot.item = item;
  slot.resumed = resumed;
  if (!reads) {
    Grant();
    return true;
  }
  slot.stage = Stage::kRead;
  slot.record_bytes = RecycledMemory::PieceBytes(item.entry.size);
  record_bytes_ += slot.record_bytes;
  to_read_.push_back(&slot);
  to_read_wake_.NotifyOne();
  return true;
}

bool RenderWindow::empty() const {
  const MutexLock lock(mu_);
  return slots_.empty();
}

const RenderSlot& RenderWindow::Front() {
  const MutexLock lock(mu_);
  AUGUR_CHECK(!slots_.empty());
  while (slots_.front().stage != Stage::kReady) ready_wake_.Wait(mu_);
  return slots_.front();
}

void RenderWindow::Pop() {
  RenderSlot gone;  // freed when no lock is held
  const MutexLock lock(mu_);
  gone = std::move(slots_.front());
  slots_.pop_front();
  --granted_;
  record_bytes_ -= gone.record_bytes;
  work_bytes_ -= gone.work_bytes;
  Grant();
}

// In the order of the window, so that a large one gets its turn.
void RenderWindow::Grant() {
  for (; granted_ < slots_.size(); ++granted_) {
    RenderSlot& slot = slots_[granted_];
    if (slot.stage == Stage::kReady) continue;
    if (slot.stage != Stage::kMeasured) return;
    if (work_bytes_ > 0 && work_bytes_ + slot.work_bytes > kWorkBytesMax) return;
    work_bytes_ += slot.work_bytes;
    slot.stage = Stage::kGranted;
    to_render_.push_back(&slot);
    to_render_wake_.NotifyOne();
  }
}

void RenderWindow::MakeReady(RenderSlot& slot) {
  slot.stage = Stage::kReady;
  Grant();
  if (&slot == &slots_.front()) ready_wake_.NotifyOne();
}

// nullptr: it is the end.
RenderSlot* RenderWindow::Next(std::deque<RenderSlot*>& queue, CondVar& work) {
  while (queue.empty() && !stop_) work.Wait(mu_);
  if (stop_) return nullptr;
  RenderSlot* const slot = queue.front();
  queue.pop_front();
  return slot;
}

void RenderWindow::ReadRecords() {
  const auto next = [this] {
    const MutexLock lock(mu_);
    return Next(to_read_, to_read_wake_);
  };
  while (RenderSlot* const slot = next()) {
    const bool rendered = slot->item.role == ViewRole::kRendered;
    slot->status = ReadRecord(*slot);
    if (slot->status.ok() && rendered) slot->status = Measure(*slot);
    const MutexLock lock(mu_);
    if (rendered && slot->status.ok()) {
      slot->stage = Stage::kMeasured;
      Grant();
    } else {
      MakeReady(*slot);
    }
  }
}

void RenderWindow::RenderFiles() {
  const auto next = [this] {
    const MutexLock lock(mu_);
    return Next(to_render_, to_render_wake_);
  };
  while (RenderSlot* const slot = next()) {
    slot->status = RenderOne(*slot);
    slot->record.reset();
    const uint64_t kept = slot->bytes.size();
    const MutexLock lock(mu_);
    record_bytes_ -= std::exchange(slot->record_bytes, 0);
    work_bytes_ -= slot->work_bytes - kept;
    slot->work_bytes = kept;
    MakeReady(*slot);
  }
}

Status RenderWindow::ReadRecord(RenderSlot& slot) const {
  const Entry& entry = slot.item.entry;
  if (slot.item.role == ViewRole::kRendered && entry.size > kWorkBytesMax) {
    return {Code::kUnsupported, "an image in " + FormatSize(entry.size) + ": at most " + FormatSize(kWorkBytesMax) +
                                    " are decoded: leave it out with --exclude, or with --on-error=skip"};
  }
  slot.record = RecycledMemory::Take<std::byte>(entry.size);
  const std::span<std::byte> bytes(slot.record.get(), entry.size);
  for (uint64_t block = 0; block < Store::BlockCount(entry); ++block) {
    AUGUR_TRY(store_.Read(entry, block, bytes.subspan(block * kBlockBytes, Store::BlockBytes(entry, block))));
  }
  slot.bytes = bytes;
  slot.image = entry.image;
  if (slot.item.role != ViewRole::kRendered) slot.hashes = HashRecord(bytes);
  return {};
}

Status RenderWindow::Measure(RenderSlot& slot) const {
  const ImageInfo& info = slot.item.entry.image;
  AUGUR_TRY_ASSIGN(needs, MeasureImage(slot.bytes, DecodeOptionsOf(spec_, info)));
  slot.work_bytes = RenderFileMemory(spec_, info, needs) + slot.item.size;
  return {};
}

Status RenderWindow::RenderOne(RenderSlot& slot) {
  const std::span<const std::byte> record = std::exchange(slot.bytes, {});
  slot.rendered = RecycledMemory::Take<std::byte>(slot.item.size);
  const std::span<std::byte> out(slot.rendered.get(), slot.item.size);
  Status rendered = RenderFile(spec_, slot.item.entry.image, record, &resizer_, out, slot.item.label);
  if (!rendered.ok()) {
    slot.rendered.reset();
    return rendered;
  }
  slot.bytes = out;
  slot.image = ProbeImage(out);
  slot.hashes = HashRecord(out);
  return {};
}

}  // namespace augur
