// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "augur/digest.h"

struct evp_md_ctx_st;

namespace augur {

// SHA-256 of bytes that are in memory at once. Safe from any thread.
Digest Sha256(std::span<const std::byte> bytes);

// Sha256Hasher hashes bytes that come in pieces. One thread at a time; can be used again after Finish.
class Sha256Hasher {
 public:
  Sha256Hasher();
  ~Sha256Hasher();
  Sha256Hasher(const Sha256Hasher&) = delete;
  Sha256Hasher& operator=(const Sha256Hasher&) = delete;

  // Forgets all bytes.
  void Reset();
  void Add(std::span<const std::byte> bytes);
  // SHA-256 of the bytes since construction, Reset or Finish; forgets them.
  Digest Finish();

 private:
  evp_md_ctx_st* context_;  // owned
};

// RecordDigester makes the digest of a record over kBlockBytes from the digests of its blocks (FORMAT.md section 5).
// One thread at a time; can be used again after Finish.
class RecordDigester {
 public:
  RecordDigester() { Reset(); }
  // Forgets all blocks.
  void Reset();
  void Add(const Digest& block) { hasher_.Add(block.bytes); }
  // Forgets the blocks.
  Digest Finish();

 private:
  Sha256Hasher hasher_;
};

// Both hashes of a record of any size, and of its blocks.
RecordHashes HashRecord(std::span<const std::byte> bytes);
// Both hashes of each block of kBlockBytes of a record; the last block may be shorter.
std::vector<HashPair> HashBlocks(std::span<const std::byte> bytes);

}  // namespace augur
