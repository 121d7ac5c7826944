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
#include "augur/store_writer.h"
#include "base/mutex.h"
#include "pack/ring_arena.h"
#include "pack/tree_source.h"

namespace augur {

// One place in the window: something found, and for a file its bytes or the reason why there are none.
struct WindowSlot {
  Found found;
  std::span<std::byte> room;         // of the arena, one byte more than the file should have; empty without bytes
  std::span<const std::byte> bytes;  // of the file, or of this piece of it
  Attributes attributes;             // of the file, when it was opened
  ImageInfo image;                   // of a whole file, or with its first piece
  RecordHashes hashes;               // of a whole file; of a piece, its blocks alone
  Status status;
  std::shared_ptr<const SourceFile> large;  // when this is a piece
  uint64_t offset = 0;                      // of the piece
  bool first = true;
  bool last = true;
  bool resumed = false;  // the store has the file already
  bool ready = false;    // guarded by the window's mutex; the reader that sets it is done with all else
};

// ReadWindow reads files with many threads and hands them out in the order in which they were offered. Files up to
// kWholeFileBytesMax are read whole, larger ones in pieces; both come hashed. Everything that was found goes through
// it, so that the order holds. A file that changed since it was opened is kChanged.
// One thread offers and takes; its own threads read. Memory: kWindowBytes and kWindowSlotsMax slots. Open files: one a
// thread and one for each large file in the window, of which there are at most kWindowBytes / kPieceBytes.
class ReadWindow {
 public:
  static constexpr size_t kWholeFileBytesMax = size_t{8} << 20;
  static constexpr size_t kPieceBytes = size_t{4} << 20;
  // 32 readers of 110 KB need 4 MiB in flight. The rest rides out the moments when the writer waits for the disk. All
  // of it has 15 pieces of a large file or 7 whole ones of 8 MiB.
  static constexpr size_t kWindowBytes = size_t{64} << 20;
  static constexpr size_t kWindowSlotsMax = 4096;

  static Result<std::unique_ptr<ReadWindow>> Make(const TreeSource& source, unsigned threads);
  // Waits for the reads that have begun.
  ~ReadWindow();
  ReadWindow(const ReadWindow&) = delete;
  ReadWindow& operator=(const ReadWindow&) = delete;

  // Takes `found`; false: there is no room now, offer it again after a Pop. A large file may be taken in several
  // offers, so the same one must be offered until it is taken.
  bool Offer(const Found& found) AUGUR_EXCLUDES(mu_);
  // The same for a file that the store has already: it keeps its place, and is not read.
  bool OfferResumed(const Found& found) AUGUR_EXCLUDES(mu_);

  bool empty() const { return slots_.empty(); }
  // The oldest slot, when it is ready: waits for that. REQUIRES: !empty().
  const WindowSlot& Front() AUGUR_EXCLUDES(mu_);
  void Pop();

 private:
  ReadWindow(const TreeSource& source, RingArena arena) : source_(source), arena_(std::move(arena)) {}
  bool OfferPieces(const Found& found) AUGUR_EXCLUDES(mu_);
  void PushReady(const Found& found, Status status, bool resumed);
  void PushRead(WindowSlot slot) AUGUR_EXCLUDES(mu_);
  void Work() AUGUR_EXCLUDES(mu_);
  Status ReadWhole(WindowSlot& slot) const;
  Status ReadPiece(WindowSlot& slot) const;
  Result<ImageInfo> ProbeHead(const WindowSlot& slot) const;
  Status Changed(const WindowSlot& slot) const;

  // Constant after construction.
  const TreeSource& source_;
  std::vector<std::thread> threads_;

  // Of the thread that offers and takes; a slot's content is its reader's until it is ready.
  RingArena arena_;
  std::deque<WindowSlot> slots_;               // kWindowSlotsMax at most: Offer refuses others
  std::shared_ptr<const SourceFile> offered_;  // the large file that has been taken in part
  uint64_t offered_bytes_ = 0;                 // of it

  // Guarded by mu_.
  Mutex mu_;
  CondVar work_;
  CondVar ready_;
  std::deque<WindowSlot*> queue_ AUGUR_GUARDED_BY(mu_);        // of slots_, no more than these
  const WindowSlot* awaited_ AUGUR_GUARDED_BY(mu_) = nullptr;  // what Front waits for
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
