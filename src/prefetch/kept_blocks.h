// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "augur/store.h"
#include "cache/warehouse.h"

namespace augur {

// KeptBlocks is the warehouse by files instead of by blocks. Safe from any thread. REQUIRES: store and warehouse
// outlive it.
class KeptBlocks {
 public:
  KeptBlocks(const Store& store, Warehouse& warehouse) : store_(store), warehouse_(warehouse) {}

  // Whether every block of the file is there, as far as can be said without a lock.
  bool Contains(const Entry& file) const;
  // Puts all blocks in. False: there was no room for all of them, and none of this file's are there.
  bool Insert(const Entry& file, std::span<const std::span<const std::byte>> blocks);
  // False: some block is in use, and stays.
  bool Erase(const Entry& file);
  // A block, checked; nothing when it is not there.
  std::optional<Warehouse::Pin> Find(const Entry& file, uint64_t block);

  Warehouse& warehouse() { return warehouse_; }

 private:
  // Own synchronization.
  const Store& store_;
  Warehouse& warehouse_;
};

}  // namespace augur
