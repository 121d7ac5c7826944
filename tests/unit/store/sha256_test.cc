// SPDX-License-Identifier: Apache-2.0
#include "store/sha256.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "augur/store.h"

namespace augur {
namespace {

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string Ramp() {
  std::string bytes;
  for (uint32_t i = 0; i < 100'000; ++i) bytes.push_back(static_cast<char>(i * 7 % 251));
  return bytes;
}

// 0, 1 ... 255, 0 ...: three blocks, the last one of 777 bytes.
std::string Large() {
  std::string bytes;
  for (uint32_t i = 0; i < 2 * kBlockBytes + 777; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

struct Vector {
  std::string bytes;
  std::string digest;
};

// The first two from FIPS 180-2, the third from hashlib.sha256.
std::vector<Vector> Vectors() {
  return {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
          {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
          {Ramp(), "96ad0ddabe9c733d4550fde750255a94806811029be67504bd9bd68e556686b9"}};
}

TEST(Sha256, IsThatOfFips) {
  for (const Vector& vector : Vectors()) EXPECT_EQ(HexOf(Sha256(Bytes(vector.bytes))), vector.digest);
}

TEST(Sha256, InPiecesIsTheSame) {
  Sha256Hasher hasher;
  for (const Vector& vector : Vectors()) {
    hasher.Add(Bytes("left behind"));
    hasher.Reset();
    for (size_t at = 0; at < vector.bytes.size(); at += 777) {
      hasher.Add(Bytes(vector.bytes).subspan(at, std::min<size_t>(777, vector.bytes.size() - at)));
    }
    EXPECT_EQ(HexOf(hasher.Finish()), vector.digest);
  }
}

TEST(Sha256, OfALargeRecordIsOverThoseOfItsBlocks) {
  const std::string large = Large();
  const RecordHashes hashes = HashRecord(Bytes(large));
  // From python: hashlib.sha256(b"AUGURREC" + each block's digest).
  EXPECT_EQ(HexOf(hashes.whole.digest), "72b42bcd68ba3c97da6e890b5574ad97d20e09f42cb4afb4cb38e8fb0dbd9a54");
  ASSERT_EQ(hashes.blocks.size(), 3U);
  EXPECT_EQ(HexOf(hashes.blocks[2].digest), "86e5691f9ca45e1fecf22b47901fd684f4f3bd931cdb01a84de88ca2dfe53d59");
}

TEST(Sha256, OfARecordOfOneBlockIsThatOfItsBytes) {
  const std::string large = Large();
  const RecordHashes hashes = HashRecord(Bytes(large).first(kBlockBytes));
  EXPECT_EQ(HexOf(hashes.whole.digest), "fbbab289f7f94b25736c58be46a994c441fd02552cc6022352e3d86d2fab7c83");
  EXPECT_TRUE(hashes.blocks.empty());
}

TEST(Digest, IsReadAsItIsWritten) {
  const Digest digest = Sha256(Bytes("abc"));
  EXPECT_EQ(ParseDigest(HexOf(digest)), digest);
  const std::string text = HexOf(digest);
  EXPECT_FALSE(ParseDigest(text.substr(1)));
  EXPECT_FALSE(ParseDigest(text + "0"));
  EXPECT_FALSE(ParseDigest("B" + text.substr(1)));
  EXPECT_FALSE(ParseDigest("g" + text.substr(1)));
}

}  // namespace
}  // namespace augur
