// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "augur/store.h"
#include "store/shard_source.h"
#include "store/store_files.h"

namespace augur {

// By what a copy of the block is found: Store::BlockIdentity. Nothing while a part of the index is still on its way,
// since a copy is no place to wait for it; nor where the index cannot be read. Safe from any thread; waits for the
// disk at most.
inline std::optional<Hash128> BlockIdentityNow(const Store& store, const WantedBlock& wanted) {
  if (store.files().MissingIndexBytes() > 0) return std::nullopt;
  const Result<Hash128> identity = store.BlockIdentity(wanted.file, wanted.block);
  return identity.ok() ? std::optional<Hash128>(*identity) : std::nullopt;
}

}  // namespace augur
