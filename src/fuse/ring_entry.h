// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/page.h"
#include "fuse/uring_abi.h"

namespace augur {

// RingEntry is the first page of an entry of a UringQueue. It has what the kernel writes and reads, and what the queue
// of the next daemon must know when this one dies. Zero at first. In the RingArea. One daemon at a time writes it. One
// that is killed between two writes leaves the request whole: as the kernel wrote it, or as it was kept.
//
// Behind it is the payload. The request is laid out in one piece for libfuse: its header and its operation's arguments
// at the end of this page, in front of its payload. An answer overwrites `kernel` and the payload, and not that.
struct RingEntry {
  static constexpr size_t kBytes = kPageBytes;
  // Of a request: names, of up to 1,024 bytes. Longer ones, an ioctl's, get answers without a payload.
  static constexpr size_t kKeptPayloadMax = 2048;

  FuseUringHeader kernel;

  // commit_id of the request that is laid out; set last. 0: none is.
  std::atomic<uint64_t> laid_out;
  uint64_t unique;          // its number at the kernel
  uint32_t laid_out_bytes;  // of header and arguments
  uint32_t kept_bytes;      // of its payload
  // commit_id of the last request whose answer the kernel has. The entry has one to answer while it is another.
  std::atomic<uint64_t> committed;
  // Of the queue, in its first entry: held by its thread from before it takes requests to its end, when the kernel lets
  // go of it. By then the kernel puts no more requests into the entries for that thread.
  pthread_mutex_t taker;
  std::array<std::byte, kKeptPayloadMax> kept;

  bool HasRequest() const {
    return kernel.entry.commit_id != 0 && kernel.entry.commit_id != committed.load(std::memory_order_acquire);
  }
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(sizeof(RingEntry) + 40 + FuseUringHeader::kAreaBytes <= RingEntry::kBytes);  // 40: fuse_in_header

}  // namespace augur
