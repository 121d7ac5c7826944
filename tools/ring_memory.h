// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// The memory of FUSE over io_uring: each core has a queue of `depth` requests, each with room for `payload_bytes`.
struct RingMemory {
  unsigned queues = 0;
  unsigned depth = 0;  // 0: there is none
  uint64_t payload_bytes = 0;

  uint64_t bytes() const;
};

// Shares out a part of memory= among `queues`; pure. Prefers requests of 1 MiB, the largest that the kernel makes, and
// takes smaller ones where the queues would else be short: the kernel then asks in more pieces. depth 0: too little
// even for short queues of small requests. queues 0: nothing.
RingMemory DivideRingMemory(unsigned queues, uint64_t memory_bytes);

// The least memory= with which DivideRingMemory gives something.
uint64_t MemoryForRings(unsigned queues);

}  // namespace augur
