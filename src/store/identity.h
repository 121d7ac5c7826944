// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "augur/digest.h"
#include "augur/entry.h"
#include "augur/status.h"

namespace augur {

// The first 128 bits of the SHA-256 of `bytes`: two texts with the same one cannot be made. Safe from any thread.
Hash128 UnforgeableHash(std::span<const std::byte> bytes);

// Names a block in a store of version 2 by its SHA-256 and its size: the same bytes have the same name in every store.
// Whoever knows the digest of a block can so ask a shared cache for its bytes; who shares one trusts the others that
// far.
Hash128 IdentityOf(const Digest& digest, uint64_t bytes);

// Where an index lies, and since when it is as it is. That is device and inode of the store's folder and of the index,
// and size, change time and file system of the index. The folder counts because an index may be a link to that of
// another store. The type of file system counts because a FUSE mount may claim any inode and time under the device
// number that another file system had before it.
struct IndexPlace {
  std::array<uint64_t, 8> words{};
};
// kIo: the system does not tell.
Result<IndexPlace> PlaceOf(int folder_fd, int index_fd);

// StoreIdentity names the blocks of a store whose hashes can be forged (format version 1) for caches that several
// stores or users share. It names them by the index file that has them and the place in the shard, never by their
// bytes. So a store can name no block of another one, and two copies of a store share nothing. Constant, safe from any
// thread.
class StoreIdentity {
 public:
  StoreIdentity() = default;
  // `index_id`: as StoreSummary has it.
  StoreIdentity(const IndexPlace& place, const Hash128& index_id);

  // REQUIRES: a regular file with bytes.
  Hash128 OfBlock(const Entry& file, uint64_t block) const;

 private:
  Hash128 index_;
};

}  // namespace augur
