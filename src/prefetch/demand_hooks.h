// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "augur/entry.h"

namespace augur {

// DemandHooks is where the prefetch meets the reads that somebody waits for: it learns of them, and gives what it has
// kept. Safe from any thread; called on threads that answer requests or end reads, so none may wait. Implemented by the
// Prefetcher.
class DemandHooks {
 public:
  virtual ~DemandHooks() = default;
  // The first bytes of a file are asked for by a READ.
  virtual void OnRead(const Entry& file) = 0;
  // Copies a kept block to `to`, which has its length. False: it is not kept.
  virtual bool Fetch(const Entry& file, uint64_t block, std::span<std::byte> to) = 0;
  // A block was read from the disk because a READ asked for it; its bytes have been checked.
  virtual void OnLoaded(const Entry& file, uint64_t block, std::span<const std::byte> bytes) = 0;
};

}  // namespace augur
