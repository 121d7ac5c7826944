// SPDX-License-Identifier: Apache-2.0
#include "pack/gzip_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace augur {
namespace {

std::string Text() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "line " + std::to_string(i * 7) + "\n";
  return text;
}

std::string Gzip(std::string_view text) {
  z_stream zlib = {};
  EXPECT_EQ(deflateInit2(&zlib, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&zlib, text.size()), '\0');
  zlib.next_in = reinterpret_cast<const Bytef*>(text.data());
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&zlib, Z_FINISH), Z_STREAM_END);
  out.resize(zlib.total_out);
  deflateEnd(&zlib);
  return out;
}

// Unpacks what comes in pieces of `piece_bytes`.
Result<std::string> Gunzip(std::string_view packed, size_t piece_bytes = 1000) {
  const auto source = [&]() -> Result<std::span<const std::byte>> {
    const std::string_view piece = packed.substr(0, piece_bytes);
    packed.remove_prefix(piece.size());
    return std::as_bytes(std::span(piece));
  };
  GzipStream stream(source, "x.gz");
  std::string text;
  for (;;) {
    AUGUR_TRY_ASSIGN(piece, stream.Next());
    if (piece.empty()) break;
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  AUGUR_TRY_ASSIGN(behind, stream.Next());
  EXPECT_TRUE(behind.empty()) << "the end is an end";
  return text;
}

std::string Cause(std::string_view packed) {
  const Result<std::string> text = Gunzip(packed);
  if (text.ok()) return "unpacked";
  EXPECT_EQ(text.status().code(), Code::kCorrupt);
  return text.status().text();
}

TEST(GzipStream, UnpacksInPiecesOfAnySize) {
  const std::string text = Text();
  const std::string packed = Gzip(text);
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{4096}, packed.size()}) {
    EXPECT_EQ(*Gunzip(packed, piece), text) << piece;
  }
  EXPECT_EQ(*Gunzip(Gzip("")), "");
}

TEST(GzipStream, SeveralMembersAreOneStreamAndZerosArePadding) {
  const std::string three = Gzip("one ") + Gzip("") + Gzip("two");
  for (const size_t piece : {size_t{1}, size_t{1000}}) {
    EXPECT_EQ(*Gunzip(three, piece), "one two");
    EXPECT_EQ(*Gunzip(three + std::string(5000, '\0'), piece), "one two");
  }
}

TEST(GzipStream, NoFlippedBitChangesTheBytes) {
  const std::string text = "some text, and some text again, and more text";
  std::string packed = Gzip(text);
  for (size_t bit = 0; bit < packed.size() * 8; ++bit) {
    packed[bit / 8] = static_cast<char>(packed[bit / 8] ^ 1 << bit % 8);
    const Result<std::string> unpacked = Gunzip(packed);  // some bits mean nothing, as those of the time
    EXPECT_EQ(unpacked.ok() ? *unpacked : text, text) << bit;
    packed[bit / 8] = static_cast<char>(packed[bit / 8] ^ 1 << bit % 8);
  }
}

TEST(GzipStream, SaysWhatIsWrong) {
  const std::string good = Gzip("text");
  std::string bad_check = good;
  bad_check[good.size() - 8] ^= 1;
  EXPECT_EQ(Cause(bad_check), "x.gz: the gzip data is damaged (incorrect data check): make or fetch the file anew");
  std::string bad_length = good;
  bad_length.back() ^= 1;
  EXPECT_NE(Cause(bad_length).find("(incorrect length check)"), std::string::npos);
  for (size_t bytes = 2; bytes < good.size(); ++bytes) {
    EXPECT_NE(Cause(good.substr(0, bytes)).find("(it is cut off)"), std::string::npos) << bytes;
  }
  const std::string follows =
      "something follows the compressed data, which ends at byte " + std::to_string(good.size());
  for (const std::string& rest : {std::string("garbage"), std::string("x"), std::string(9, '\0') + good}) {
    EXPECT_NE(Cause(good + rest).find(follows), std::string::npos) << rest.size();
  }
}

TEST(GzipStream, PassesOnTheFailureOfItsSource) {
  GzipStream stream([]() -> Result<std::span<const std::byte>> { return Status(Code::kIo, "the disk"); }, "x.gz");
  EXPECT_EQ(stream.Next().status().code(), Code::kIo);
}

}  // namespace
}  // namespace augur
