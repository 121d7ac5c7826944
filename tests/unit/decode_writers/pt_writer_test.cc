// SPDX-License-Identifier: Apache-2.0
// What torch.load makes of it is in tests/frameworks/test_view_arrays.py.
#include "decode/pt_writer.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <map>
#include <string>

#include "unit/decode_writers/random_image.h"

namespace augur {
namespace {

// The archive as a reader of zip files finds it: from its end.
class Zip {
 public:
  explicit Zip(std::string bytes) : bytes_(std::move(bytes)) {
    const size_t end = bytes_.size() - 22;
    EXPECT_EQ(bytes_.substr(end, 4), "PK\x05\x06");
    size_t at = Number(end + 16, 4);
    EXPECT_EQ(at + Number(end + 12, 4), end) << "the directory ends where its end begins";
    for (uint32_t left = Number(end + 10, 2); left > 0; --left) {
      EXPECT_EQ(bytes_.substr(at, 4), "PK\x01\x02");
      const std::string name = bytes_.substr(at + 46, Number(at + 28, 2));
      const uint32_t local = Number(at + 42, 4);
      EXPECT_EQ(bytes_.substr(local, 4), "PK\x03\x04");
      EXPECT_EQ(bytes_.substr(local + 30, Number(local + 26, 2)), name);
      // Both headers say the same of the content: method, time, day, sum, and both sizes.
      EXPECT_EQ(bytes_.substr(local + 8, 18), bytes_.substr(at + 10, 18));
      EXPECT_EQ(Number(local + 8, 2), 0U) << "stored";
      starts_[name] = local + 30 + Number(local + 26, 2) + Number(local + 28, 2);
      contents_[name] = bytes_.substr(starts_[name], Number(local + 22, 4));
      EXPECT_EQ(
          crc32(0, reinterpret_cast<const Bytef*>(contents_[name].data()), static_cast<uInt>(contents_[name].size())),
          Number(local + 14, 4));
      at += 46 + name.size() + Number(at + 30, 2) + Number(at + 32, 2);
    }
    EXPECT_EQ(at, end);
  }
  size_t start(const std::string& name) const { return starts_.at(name); }
  const std::string& content(const std::string& name) const { return contents_.at(name); }
  size_t size() const { return contents_.size(); }

 private:
  uint32_t Number(size_t at, size_t bytes) const {
    uint32_t number = 0;
    for (size_t i = bytes; i > 0; --i) number = number << 8 | static_cast<uint8_t>(bytes_[at + i - 1]);
    return number;
  }

  const std::string bytes_;
  std::map<std::string, size_t> starts_;
  std::map<std::string, std::string> contents_;
};

Zip Written(const Image& image, const ArrayFormat& format, PtItem item = PtItem::kTensor, int32_t label = 0) {
  GuardedBytes bytes(PtBytes(image.width, image.height, image.channels, format, item));
  WritePt(image, format, bytes.span(), item, label);
  EXPECT_TRUE(bytes.guards_hold());
  return Zip(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.span().size()));
}

TEST(PtWriter, IsAnArchiveOfStoredEntries) {
  for (const uint32_t width : {1U, 255U, 256U, 300U}) {
    const Image image = RandomImage(width, 7, 3);
    const Zip zip = Written(image, {});
    EXPECT_EQ(zip.size(), 4U);
    EXPECT_EQ(zip.content("archive/data/0"),
              std::string(reinterpret_cast<const char*>(image.pixels.get()), image.bytes()));
    EXPECT_EQ(zip.start("archive/data/0") % 64, 0U) << "mmap=True wants the tensor at its alignment";
    EXPECT_EQ(zip.content("archive/byteorder"), "little");
    EXPECT_EQ(zip.content("archive/version"), "3\n");
  }
}

TEST(PtWriter, TheArrayIsThatOfAnNpyFile) {
  const Image image = RandomImage(33, 21, 3);
  for (const ArrayLayout layout : {ArrayLayout::kHwc, ArrayLayout::kChw}) {
    const ArrayFormat format{
        .layout = layout, .type = ArrayType::kF32, .mean = {0.5F, 0.4F, 0.3F}, .std = {0.2F, 0.3F, 0.4F}};
    std::string array(ArrayBytes(33, 21, 3, ArrayType::kF32), '\0');
    WriteArray(image, format, std::as_writable_bytes(std::span(array)));
    EXPECT_EQ(Written(image, format).content("archive/data/0"), array);
  }
}

// The tensor is between what makes a pair or a dict of it, in Python's protocol 2.
TEST(PtWriter, ALabelStandsBesideTheTensor) {
  const Image image = RandomImage(5, 4, 3);
  const std::string alone = Written(image, {}).content("archive/data.pkl");
  const std::string tensor = alone.substr(2, alone.size() - 3);
  for (const auto& [label, bytes] : {std::pair(0, std::string(4, '\0')), std::pair(-1, std::string(4, '\xFF')),
                                     std::pair(999, std::string("\xE7\x03\0\0", 4))}) {
    EXPECT_EQ(Written(image, {}, PtItem::kPair, label).content("archive/data.pkl"),
              "\x80\x02" + tensor + "J" + bytes + "\x86.");
    const Zip dict = Written(image, {}, PtItem::kDict, label);
    EXPECT_EQ(dict.content("archive/data.pkl"), "\x80\x02}(" + std::string("X\x05\0\0\0image", 10) + tensor +
                                                    std::string("X\x05\0\0\0label", 10) + "J" + bytes + "u.");
    EXPECT_EQ(dict.start("archive/data/0") % 64, 0U);
  }
}

}  // namespace
}  // namespace augur
