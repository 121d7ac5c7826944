// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "store/catalogue.h"
#include "store/natural_sort.h"
#include "store/tree_path.h"

namespace augur {
namespace {

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(NaturalSort, IsAStableSortWhateverTheRuns) {
  std::mt19937 random(20240607);
  for (const size_t size : {0u, 1u, 2u, 31u, 32u, 33u, 64u, 100u, 1000u, 5000u}) {
    for (const int order : {0, 1, 2, 3, 4}) {  // ascending, descending, two runs, random, all alike
      std::vector<std::pair<int, int>> items;
      for (size_t i = 0; i < size; ++i) {
        const int n = static_cast<int>(i);
        const int keys[] = {n / 3, -n, n % static_cast<int>(size / 2 + 1), static_cast<int>(random() % 50), 0};
        items.emplace_back(keys[order], n);
      }
      std::vector<std::pair<int, int>> expected = items;
      const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
      std::stable_sort(expected.begin(), expected.end(), less);
      NaturalSort(items, less);
      ASSERT_EQ(items, expected) << size << " items, order " << order;
    }
  }
}

TEST(TreePath, KeysSortInPathOrder) {
  // FORMAT.md section 5: '/' below every other byte.
  const std::vector<std::string> ordered = {"a", "a/b", "a/b/c", "a/c", "a\x01", "a b", "a!", "a.b", "ab", "b"};
  std::vector<std::string> keys;
  for (std::string path : ordered) {
    std::replace(path.begin(), path.end(), '/', '\0');
    keys.push_back(path);
  }
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(PathOfKey(keys[2]), "a/b/c");
  EXPECT_EQ(ParentKey(keys[2]), keys[1]);
  EXPECT_EQ(ParentKey(keys[0]), "");
  EXPECT_EQ(NameOfKey(keys[2]), "c");
  EXPECT_TRUE(IsBelow(keys[2], keys[0]));
  EXPECT_TRUE(IsBelow(keys[0], ""));
  EXPECT_FALSE(IsBelow("", ""));
  EXPECT_FALSE(IsBelow(keys[8], keys[0]));
  EXPECT_FALSE(IsBelow(keys[0], keys[0]));
}

// The two items of a payload that has everything.
std::string Payload() {
  const std::string blocks(96, 'B');
  std::string payload;
  CatalogueItem item;
  item.fixed.size = 7;
  item.path = "dir/file";
  item.blocks = Bytes(blocks);
  EncodeItem(item, payload);
  item = {};
  item.path = "link";
  item.target = "to";
  EncodeItem(item, payload);
  return payload;
}

TEST(Catalogue, DecodesWhatItEncodes) {
  const std::string payload = Payload();
  EXPECT_EQ(payload.size(), 120u + 8 + 96 + 120 + 8) << "FORMAT.md section 6: padded to a multiple of 8";
  const auto items = DecodePayload(Bytes(payload), 2, format::kVersion);
  ASSERT_TRUE(items.ok()) << items.status().text();
  EXPECT_EQ((*items)[0].path, "dir/file");
  EXPECT_EQ((*items)[0].fixed.size, 7u);
  EXPECT_EQ((*items)[0].fixed.block_count, 2u);
  EXPECT_EQ((*items)[0].blocks.size(), 96u);
  EXPECT_EQ((*items)[1].path, "link");
  EXPECT_EQ((*items)[1].target, "to");
}

TEST(Catalogue, OfVersion1HasNoSha256) {
  const std::string old = Payload();
  // The digest is cut out of both items and of each block; lengths and padding are those of what is left.
  std::string first = old.substr(0, 88) + "dir/file" + std::string(32, 'B');
  first[0] = static_cast<char>(88 + 8 + 32);
  std::string second = old.substr(224, 88) + "linkto" + std::string(2, '\0');
  second[0] = 88 + 8;
  const std::string payload = first + second;
  const auto items = DecodePayload(Bytes(payload), 2, 1);
  ASSERT_TRUE(items.ok()) << items.status().text();
  EXPECT_EQ((*items)[0].path, "dir/file");
  EXPECT_EQ((*items)[0].blocks.size(), 32u);
  EXPECT_EQ((*items)[0].digest, Digest{});
  EXPECT_EQ((*items)[1].target, "to");
}

TEST(Catalogue, RefusesEveryBrokenLength) {
  const std::string good = Payload();
  EXPECT_EQ(DecodePayload(Bytes(good), 1, format::kVersion).status().code(), Code::kCorrupt);
  EXPECT_EQ(DecodePayload(Bytes(good), 3, format::kVersion).status().code(), Code::kCorrupt);
  EXPECT_EQ(DecodePayload(Bytes(good), 0xFFFFFFFF, format::kVersion).status().code(), Code::kCorrupt);
  for (size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_FALSE(DecodePayload(Bytes(good.substr(0, bytes)), 2, format::kVersion).ok()) << bytes;
  }
  // item bytes, path bytes, target bytes, block count; the reserved field; the padding.
  for (const size_t at : {0u, 1u, 3u, 4u, 7u, 8u, 11u, 12u, 15u, 44u, 351u}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    EXPECT_EQ(DecodePayload(Bytes(bad), 2, format::kVersion).status().code(), Code::kCorrupt) << at;
  }
}

}  // namespace
}  // namespace augur
