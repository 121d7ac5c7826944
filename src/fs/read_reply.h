// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "cache/retained_cache.h"

namespace augur {

// The longest read: FUSE's longest request. It touches two blocks of one record at most.
inline constexpr size_t kReadBytesMax = kBlockBytes;
// The pieces that a reply has at most: as many as one writev takes (IOV_MAX, 1,024), but for FUSE's own header.
inline constexpr size_t kReadPiecesMax = 1023;

// The bytes of a read: pieces in order, which stay valid as long as the reply does.
struct ReadReply {
  std::vector<std::span<const std::byte>> pieces;
  // Keep the bytes alive.
  std::vector<std::shared_ptr<const void>> owners;
  std::vector<RetainedCache::Pin> pins;
};

// Called exactly once, on the caller's thread or on one of the source of shards or of the decode pool. Failure:
// kCorrupt or kIo; nothing was read.
using ReadDone = std::function<void(Result<ReadReply>)>;

}  // namespace augur
