// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "augur/digest.h"
#include "augur/entry.h"
#include "augur/status.h"
#include "augur/store.h"
#include "base/mutex.h"
#include "base/recycled_memory.h"
#include "decode/resize.h"
#include "pack/view_walk.h"
#include "views/view_spec.h"

namespace augur {

// One place in the window: an entry of the view, and for a file its bytes or the reason why there are none.
struct RenderSlot {
  ViewItem item;
  // Of a file; of one that is resumed, or too large to be read whole, nothing.
  std::span<const std::byte> bytes;
  ImageInfo image;
  RecordHashes hashes;
  Status status;
  bool resumed = false;  // the store has the file already

 private:
  friend class RenderWindow;
  enum class Stage { kRead, kMeasured, kGranted, kReady };

  Stage stage = Stage::kReady;  // guarded by the window's mutex; all else is of the thread that is at work with it
  RecycledMemory::Piece<std::byte> record;
  RecycledMemory::Piece<std::byte> rendered;
  uint64_t record_bytes = 0;  // of the window's room, as long as it has them
  uint64_t work_bytes = 0;
};

// RenderWindow makes the files of a view from the records of a store with many threads, and hands them out in the order
// in which they were offered. Some threads read and check records, others decode and render them, and hash what comes
// out. One thread offers and takes.
//
// Memory: kRecordBytesMax for records (or one record that is larger), and kWorkBytesMax for what decoding takes and for
// what it made, until that is popped. How much an image takes is known when its header has been read. From then on each
// gets its turn in the order of the window. One that takes more than there is gets its turn when nothing before it has
// any. So there is one such image at a time, and the oldest slot never waits for memory of a later one.
class RenderWindow {
 public:
  // Files that pass through and are larger are the taker's to copy.
  static constexpr uint64_t kWholeFileBytesMax = uint64_t{8} << 20;
  // Some 300 photographs of 110 KB are ahead of the decoders, which take 5 ms each.
  static constexpr uint64_t kRecordBytesMax = uint64_t{32} << 20;
  // The rest of 256 MiB. The records have 32 MiB, the writer 16 MiB, tables for resizing 16 MiB, memory that waits to
  // be used again (RecycledMemory) 16 MiB, and the program 32 MiB. With 500 x 375 pixels, 0.6 MB decoded and 0.15 MB
  // made, it is two hundred images at once; with 12 megapixels four.
  static constexpr uint64_t kWorkBytesMax = uint64_t{144} << 20;
  static constexpr size_t kSlotsMax = 4096;

  // Starts `decoders` threads beside those that read. kNoSpace: the system gives no such thread. REQUIRES: store and
  // spec outlive it; decoders > 0.
  static Result<std::unique_ptr<RenderWindow>> Start(const Store& store, const ViewSpec& spec, unsigned decoders);
  // Waits for the files that its threads work on, not for those that no thread has begun.
  ~RenderWindow();
  RenderWindow(const RenderWindow&) = delete;
  RenderWindow& operator=(const RenderWindow&) = delete;

  // Takes an entry; false: there is no room now, offer it again after a Pop. One that the view does not show,
  // or that is `resumed`, keeps its place and is not read.
  bool Offer(const ViewItem& item, bool resumed) AUGUR_EXCLUDES(mu_);

  bool empty() const AUGUR_EXCLUDES(mu_);
  // The oldest slot, when it is ready: waits for that. Its status is kCorrupt, kIo of the record and kCorrupt,
  // kUnsupported of the image. REQUIRES: !empty().
  const RenderSlot& Front() AUGUR_EXCLUDES(mu_);
  void Pop() AUGUR_EXCLUDES(mu_);

 private:
  using Stage = RenderSlot::Stage;

  RenderWindow(const Store& store, const ViewSpec& spec) : store_(store), spec_(spec) {}
  void ReadRecords() AUGUR_EXCLUDES(mu_);
  void RenderFiles() AUGUR_EXCLUDES(mu_);
  RenderSlot* Next(std::deque<RenderSlot*>& queue, CondVar& work) AUGUR_REQUIRES(mu_);
  Status ReadRecord(RenderSlot& slot) const;
  Status Measure(RenderSlot& slot) const;
  Status RenderOne(RenderSlot& slot);
  void Grant() AUGUR_REQUIRES(mu_);
  void MakeReady(RenderSlot& slot) AUGUR_REQUIRES(mu_);

  // Constant after Start.
  const Store& store_;
  const ViewSpec& spec_;
  std::vector<std::thread> threads_;

  // Own synchronization.
  Resizer resizer_;

  mutable Mutex mu_;
  CondVar to_read_wake_;
  CondVar to_render_wake_;
  CondVar ready_wake_;
  std::deque<RenderSlot> slots_ AUGUR_GUARDED_BY(mu_);  // kSlotsMax at most: Offer refuses others
  size_t granted_ AUGUR_GUARDED_BY(mu_) = 0;            // of slots_, from the oldest on, those that wait for no memory
  // Of slots_, no more than these.
  std::deque<RenderSlot*> to_read_ AUGUR_GUARDED_BY(mu_);
  std::deque<RenderSlot*> to_render_ AUGUR_GUARDED_BY(mu_);
  uint64_t record_bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t work_bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
