// SPDX-License-Identifier: Apache-2.0
#include "tools/ring_memory.h"

#include <algorithm>

#include "base/units.h"
#include "fuse/uring_queue.h"

namespace augur {
namespace {

// Of memory=: with the default on a machine of 8 GiB and 2 cores, 64 MiB, of which 32 are taken.
constexpr uint64_t kShare = 16;
constexpr uint64_t kPayloadMax = kMiB;
// The kernel's own read-ahead: smaller requests would make more of them in any program.
constexpr uint64_t kPayloadMin = 128 * kKiB;
// Readers of one core that wait for the disk at the same time. Below the first, requests are made smaller; below the
// second, a look-up would wait for reads of others too often.
constexpr uint64_t kDepthGood = 8;
constexpr uint64_t kDepthMin = 4;

uint64_t EntryBytes(uint64_t payload_bytes) { return payload_bytes + UringQueue::kEntryExtraBytes; }

}  // namespace

uint64_t RingMemory::bytes() const { return uint64_t{queues} * depth * (depth > 0 ? EntryBytes(payload_bytes) : 0); }

RingMemory DivideRingMemory(unsigned queues, uint64_t memory_bytes) {
  RingMemory memory;
  if (queues == 0) return memory;
  uint64_t payload_bytes = kPayloadMax;
  const auto depth = [&] { return memory_bytes / kShare / queues / EntryBytes(payload_bytes); };
  while (depth() < kDepthGood && payload_bytes > kPayloadMin) payload_bytes /= 2;
  if (depth() < kDepthMin) return memory;
  memory.queues = queues;
  memory.depth = static_cast<unsigned>(std::min<uint64_t>(depth(), UringQueue::kDepthMax));
  memory.payload_bytes = payload_bytes;
  return memory;
}

uint64_t MemoryForRings(unsigned queues) { return kShare * queues * kDepthMin * EntryBytes(kPayloadMin); }

}  // namespace augur
