// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datasets/order.h"

namespace augur {

enum class PushOutcome {
  kPushed,
  kUnknown,  // the kernel has not looked this file up, or has forgotten it: stat it, and push again
  kEnded,    // the mount is gone, or the kernel refuses pushes altogether
};

// PageSink puts bytes of files into the kernel's page cache, so that they can be read without a request. Safe from any
// thread that answers no requests and holds nothing that the answer to one needs. Push waits while the kernel holds a
// page of the file locked for an unanswered READ. Implemented by src/fuse (FUSE_NOTIFY_STORE); in tests by a fake.
class PageSink {
 public:
  virtual ~PageSink() = default;
  // Files are those of this view from now on; at first those of view 0. REQUIRES: none of the others is being called.
  virtual void SelectView(uint32_t view) = 0;
  // Puts the bytes of `pieces`, in order, at `offset` of the file. REQUIRES: `offset` is a multiple of 4096 (of the
  // page size), and so is the end, or it is the end of the file.
  virtual PushOutcome Push(EntryNumber file, uint64_t offset, std::span<const std::span<const std::byte>> pieces) = 0;
  // Drops the file's pages, for mounts that no MountView can see. False: the mount is gone.
  virtual bool Drop(EntryNumber file) = 0;
};

}  // namespace augur
