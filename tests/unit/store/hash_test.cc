// SPDX-License-Identifier: Apache-2.0
#include "store/hash.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace augur {
namespace {

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string Ramp() {
  std::string bytes;
  for (uint32_t i = 0; i < 100'000; ++i) bytes.push_back(static_cast<char>(i * 7 % 251));
  return bytes;
}

struct Vector {
  std::string bytes;
  std::string hash64;
  std::string hash128;
};

// From python-xxhash 3 (xxhash.xxh3_64_hexdigest, xxh3_128_hexdigest); those of no bytes are also in xxHash's own
// tests.
std::vector<Vector> Vectors() {
  return {{"", "2d06800538d394c2", "99aa06d3014798d86001c324468d497f"},
          {"a", "e6c632b61e964e1f", "a96faf705af16834e6c632b61e964e1f"},
          {"AugurFS", "5ce804f7a14ebb0f", "63b1b36e4d7a3d40fe4b283e3040f47c"},
          {Ramp(), "17a701075a95b432", "70227b16fd5f74ef17a701075a95b432"}};
}

TEST(Hash, IsThatOfXxHash) {
  for (const Vector& vector : Vectors()) {
    EXPECT_EQ(HexOf(HashBytes64(Bytes(vector.bytes))), vector.hash64);
    EXPECT_EQ(HexOf(HashBytes128(Bytes(vector.bytes))), vector.hash128);
  }
}

TEST(Hash, InPiecesIsTheSame) {
  Hasher64 hasher64;
  Hasher128 hasher128;
  for (const Vector& vector : Vectors()) {
    hasher64.Reset();
    hasher128.Reset();
    for (size_t at = 0; at < vector.bytes.size(); at += 777) {
      hasher64.Add(Bytes(vector.bytes).subspan(at, std::min<size_t>(777, vector.bytes.size() - at)));
      hasher128.Add(Bytes(vector.bytes).subspan(at, std::min<size_t>(777, vector.bytes.size() - at)));
    }
    EXPECT_EQ(HexOf(hasher64.Digest()), vector.hash64);
    EXPECT_EQ(HexOf(hasher128.Digest()), vector.hash128);
  }
}

}  // namespace
}  // namespace augur
