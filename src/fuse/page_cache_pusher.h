// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "fs/node.h"
#include "fs/node_numbers.h"
#include "fuse/notify_channel.h"
#include "prefetch/page_sink.h"

namespace augur {

// PageCachePusher is the PageSink of a mount: it pushes by FUSE_NOTIFY_STORE, one writev(2) for each MiB and without a
// copy of its own. libfuse's fuse_lowlevel_notify_store would copy the pieces together first. Threads as PageSink says.
// May outlive the Session: pushes are then kEnded.
class PageCachePusher final : public PageSink {
 public:
  // Pieces of one push at most: a record is one, a record in blocks of a pool or a store of its own a few hundred.
  static constexpr size_t kPiecesMax = 256;

  // `channel`: Session::notifications(). `numbers`: those of the file system, which outlive this; nullptr: entries are
  // their numbers.
  explicit PageCachePusher(std::shared_ptr<NotifyChannel> channel, const NodeNumbers* numbers = nullptr)
      : numbers_(numbers), channel_(std::move(channel)) {}

  void SelectView(uint32_t view) override { view_ = view; }

  // As in PageSink. kUnknown also when the kernel has no memory for the pages (a memory cgroup that is full), which is
  // logged once. Pages that were not pushed will be read by a READ. REQUIRES: pieces.size() <= kPiecesMax.
  PushOutcome Push(EntryNumber file, uint64_t offset, std::span<const std::span<const std::byte>> pieces) override;

  // By FUSE_NOTIFY_INVAL_INODE. The kernel then forgets the attributes too, so that the next fstat of the file is a
  // GETATTR. Waits as Push. A file that the kernel does not know has no pages: true.
  bool Drop(EntryNumber file) override;

 private:
  NodeId NodeOf(EntryNumber file) const;

  // Constant after construction.
  const NodeNumbers* const numbers_;

  // Own synchronization.
  const std::shared_ptr<NotifyChannel> channel_;
  std::atomic<uint32_t> view_ = 0;
  std::atomic<bool> complained_ = false;
};

}  // namespace augur
