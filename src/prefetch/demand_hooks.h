// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "augur/entry.h"
#include "cache/warehouse.h"

namespace augur {

// DemandHooks is where the prefetch meets the reads that somebody waits for: it learns of them, and gives what it has
// kept. Safe from any thread; called on threads that answer requests or end reads, so none may wait. Implemented by the
// Prefetcher.
class DemandHooks {
 public:
  virtual ~DemandHooks() = default;
  // The first bytes of a file are asked for by a READ of this thread (its id in our pid namespace; 0: not known).
  virtual void OnRead(const Entry& file, uint32_t reader) = 0;
  // A kept block, checked. Nothing: it is not kept.
  virtual std::optional<Warehouse::Pin> Find(const Entry& file, uint64_t block) = 0;
  // A block was read from the disk because a READ asked for it; its bytes have been checked.
  virtual void OnLoaded(const Entry& file, uint64_t block, std::span<const std::byte> bytes) = 0;
};

}  // namespace augur
