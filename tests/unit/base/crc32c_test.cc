// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace augur {
namespace {

std::span<const std::byte> BytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

struct Vector {
  std::vector<uint8_t> bytes;
  uint32_t crc;
};

// RFC 3720, appendix B.4.
std::vector<Vector> PublishedVectors() {
  std::vector<uint8_t> rising(32);
  std::iota(rising.begin(), rising.end(), uint8_t{0});
  const std::vector<uint8_t> falling(rising.rbegin(), rising.rend());
  const std::vector<uint8_t> scsi_read = {0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0,
                                          0x14, 0,    0, 0, 0, 0, 4, 0, 0, 0, 0, 20, 0, 0, 0, 0x18,
                                          0x28, 0,    0, 0, 0, 0, 0, 0, 2, 0, 0, 0,  0, 0, 0, 0};
  return {{std::vector<uint8_t>(32, 0x00), 0x8a9136aa},
          {std::vector<uint8_t>(32, 0xff), 0x62a8ab43},
          {rising, 0x46dd794e},
          {falling, 0x113fdb5c},
          {scsi_read, 0xd9963a56}};
}

TEST(Crc32c, PublishedVectors) {
  for (const Vector& vector : PublishedVectors()) {
    EXPECT_EQ(Crc32c(std::as_bytes(std::span(vector.bytes))), vector.crc);
    EXPECT_EQ(Crc32cByTable(std::as_bytes(std::span(vector.bytes))), vector.crc);
  }
  EXPECT_EQ(Crc32c(BytesOf("123456789")), 0xe3069283U);  // the check value of CRC-32/ISCSI in Ross Williams' model
  EXPECT_EQ(Crc32c({}), 0U);
}

TEST(Crc32c, PiecesOfAnySizeAndPlaceMakeTheSameSum) {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(300);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (size_t begin = 0; begin < 9; ++begin) {
    const std::span<const std::byte> all = std::span(bytes).subspan(begin);
    const uint32_t whole = Crc32cByTable(all);
    for (size_t cut = 0; cut <= all.size(); ++cut) {
      EXPECT_EQ(Crc32c(all.subspan(cut), Crc32c(all.first(cut))), whole);
      EXPECT_EQ(Crc32cByTable(all.subspan(cut), Crc32cByTable(all.first(cut))), whole);
    }
  }
}

// The masked sums that TensorFlow's TFRecordWriter has put around the record "hello": of its length, and of itself.
TEST(Crc32c, MaskOfTensorFlow) {
  constexpr std::array<uint8_t, 8> kLength = {5, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(MaskedCrc32c(Crc32c(std::as_bytes(std::span(kLength)))), 0x3e04b2eaU);
  EXPECT_EQ(MaskedCrc32c(Crc32c(BytesOf("hello"))), 0x191c1fbbU);
}

}  // namespace
}  // namespace augur
