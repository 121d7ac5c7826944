// SPDX-License-Identifier: Apache-2.0
// The parts of an HDF5 file, byte for byte. What readers make of whole files: tests/mount/test_stacked_arrays.py.
#include "archives/h5_metadata.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "archives/lookup3.h"

namespace augur {
namespace {

uint64_t NumberAt(const std::string& text, uint64_t at, size_t bytes) {
  uint64_t number = 0;
  std::memcpy(&number, text.data() + at, bytes);
  return number;
}

// The vectors of lookup3.c's own driver5.
TEST(Lookup3, IsThatOfItsAuthor) {
  EXPECT_EQ(Lookup3(""), 0xdeadbeefU);
  EXPECT_EQ(Lookup3("Four score and seven years ago"), 0x17770551U);
}

// A file that h5py 2.8 to 3.16 and h5dump read: a dataset of 24 bytes in one piece at 4096.
TEST(H5Metadata, TheFrontIsThatOfAFileThatReadersTake) {
  const H5Dataset images = {.name = "images",
                            .shape = {2, 2, 2, 3},
                            .type = H5UnsignedByte(),
                            .element_bytes = 1,
                            .address = 0x1000,
                            .is_chunked = false};
  const std::string front = H5Front({images}, 0x1018);
  EXPECT_EQ(front.substr(0, 12), std::string("\x89HDF\r\n\x1a\n\x03\x08\x08\x00", 12));
  EXPECT_EQ(NumberAt(front, 44, 4), 0x7a3aa351U) << "of the superblock";
  EXPECT_EQ(front.substr(48, 4), "OHDR");
  EXPECT_EQ(NumberAt(front, 48 + 10 + 0x54, 4), 0x5adfe875U) << "of the dataset";
  EXPECT_EQ(NumberAt(front, 36, 8), 0x98U) << "the root group";
  EXPECT_EQ(NumberAt(front, 0x98 + 10 + 0x32, 4), 0xa34ba916U) << "of the group";
}

// Data blocks as H5FA__dblock_create lays them out, each part with its checksum.
TEST(H5FixedArray, HasTheAddressesAndTheirChecksums) {
  constexpr uint64_t kFirst = 4096;
  constexpr uint64_t kStride = 8192;
  constexpr uint64_t kAt = 64;
  for (const uint64_t count : {1, 2, 64, 1023, 1024, 1025, 5000, 8192, 20'000}) {
    const H5FixedArray array(count, kFirst, kStride);
    const std::string text = array.Text(kAt, 0, array.bytes());
    ASSERT_EQ(text.size(), array.bytes());
    ASSERT_EQ(text.substr(0, 4) + text.substr(28, 4), "FAHDFADB");
    EXPECT_EQ(NumberAt(text, 8, 8), count);
    EXPECT_EQ(NumberAt(text, 16, 8), kAt + 28);
    EXPECT_EQ(NumberAt(text, 24, 4), Lookup3(text.substr(0, 24)));
    EXPECT_EQ(NumberAt(text, 28 + 6, 8), kAt);
    const bool is_paged = count > 1024;
    const uint64_t pages = (count + 1023) / 1024;
    const uint64_t head = 14 + (is_paged ? (pages + 7) / 8 : count * 8);
    EXPECT_EQ(NumberAt(text, 28 + head, 4), Lookup3(text.substr(28, head)));
    for (uint64_t page = 0; is_paged && page < pages; ++page) {
      EXPECT_NE(text[28 + 14 + page / 8] & (0x80 >> page % 8), 0) << page;
      const uint64_t at = 28 + head + 4 + page * 8196;
      const uint64_t bytes = 8 * std::min<uint64_t>(1024, count - page * 1024);
      EXPECT_EQ(NumberAt(text, at + bytes, 4), Lookup3(text.substr(at, bytes)));
    }
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = is_paged ? 28 + head + 4 + i / 1024 * 8196 + i % 1024 * 8 : 28 + 14 + i * 8;
      ASSERT_EQ(NumberAt(text, at, 8), kFirst + i * kStride);
    }
    for (uint64_t begin = 0; begin < text.size(); begin += 1 + text.size() / 37) {
      const uint64_t end = std::min<uint64_t>(text.size(), begin + 9000);
      ASSERT_EQ(array.Text(kAt, begin, end), text.substr(begin, end - begin)) << begin;
    }
  }
}

}  // namespace
}  // namespace augur
