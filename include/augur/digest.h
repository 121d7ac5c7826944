// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "augur/entry.h"

namespace augur {

// A SHA-256.
struct Digest {
  std::array<std::byte, 32> bytes{};
  bool operator==(const Digest&) const = default;
};

// 64 lower-case hex digits, the first byte first, as sha256sum(1) writes them.
std::string HexOf(const Digest& digest);
// Reads such a text. Nothing: it is not one.
std::optional<Digest> ParseDigest(std::string_view text);

// What a store keeps of a record, or of a block of one: XXH3-128 against damage, SHA-256 against people, who can make
// other bytes with the same XXH3-128.
struct HashPair {
  Hash128 hash;
  Digest digest;  // of a record over kBlockBytes: the one over the digests of its blocks (FORMAT.md section 5)
  bool operator==(const HashPair&) const = default;
};

// The hashes of a whole record.
struct RecordHashes {
  HashPair whole;
  std::vector<HashPair> blocks;  // of a record over kBlockBytes; else empty
};

}  // namespace augur
