// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "augur/entry.h"

struct XXH3_state_s;

namespace augur {

// XXH3-64 and XXH3-128 of xxHash 0.8 with seed 0: the hashes of FORMAT.md against damage. Against people: sha256.h.
uint64_t HashBytes64(std::span<const std::byte> bytes);
Hash128 HashBytes128(std::span<const std::byte> bytes);

// 32 lower-case hex digits, high 64 bits first, as the manifest has it.
std::string HexOf(const Hash128& hash);
// 16 lower-case hex digits.
std::string HexOf(uint64_t hash);

// Hasher128 hashes bytes that come in pieces. One thread at a time; can be used again after Reset.
// Not for bytes that are in memory at once: HashBytes128 needs no allocation.
class Hasher128 {
 public:
  Hasher128();
  ~Hasher128();
  Hasher128(const Hasher128&) = delete;
  Hasher128& operator=(const Hasher128&) = delete;

  // Forgets all bytes.
  void Reset();
  void Add(std::span<const std::byte> bytes);
  // XXH3-128 of the bytes since construction or Reset. More may be added afterwards.
  Hash128 Digest() const;

 private:
  XXH3_state_s* state_;  // owned
};

// Hasher64 is the same for XXH3-64.
class Hasher64 {
 public:
  Hasher64();
  ~Hasher64();
  Hasher64(const Hasher64&) = delete;
  Hasher64& operator=(const Hasher64&) = delete;

  // Forgets all bytes.
  void Reset();
  void Add(std::span<const std::byte> bytes);
  // XXH3-64 of the bytes since construction or Reset. More may be added afterwards.
  uint64_t Digest() const;

 private:
  XXH3_state_s* state_;  // owned
};

}  // namespace augur
