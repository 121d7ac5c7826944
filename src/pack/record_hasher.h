// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "augur/digest.h"
#include "augur/entry.h"
#include "decode/head_probe.h"
#include "store/hash.h"
#include "store/sha256.h"

namespace augur {

// What the index has of a record beside its place.
struct RecordSums {
  RecordHashes hashes;
  ImageInfo image;
};

// RecordHasher makes the checksums of records whose size is known and whose bytes come in pieces, and looks what images
// they are. For any number of records, one after the other. One thread.
class RecordHasher {
 public:
  // Begins a record of `size` bytes.
  void Begin(uint64_t size);
  // Its next bytes.
  void Add(std::span<const std::byte> bytes);
  // REQUIRES: all bytes were added.
  RecordSums Finish();

  // The same of a record that is in memory at once.
  static RecordSums Of(std::span<const std::byte> bytes);

 private:
  uint64_t size_ = 0;
  uint64_t added_ = 0;
  RecordHashes hashes_;
  std::optional<RecordSums> sums_;  // of a record that came in one piece
  HeadProbe probe_;
  Hasher128 hasher_;
  Hasher128 block_hasher_;
  Sha256Hasher block_digester_;
  RecordDigester digester_;
};

}  // namespace augur
