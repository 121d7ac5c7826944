// SPDX-License-Identifier: Apache-2.0
#include "pack/listing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "unit/pack/scratch.h"

namespace augur {
namespace {

// The items of a sorted listing, read back from the spool.
std::vector<std::pair<FoundItem, std::string>> ReadBack(const SpoolFile& spool, const ListingPlace& place) {
  std::vector<std::byte> bytes(place.bytes);
  EXPECT_EQ(*spool.Read(place.offset, bytes), place.bytes);
  std::vector<std::pair<FoundItem, std::string>> items;
  for (size_t at = 0; at < bytes.size();) {
    FoundItem item;
    std::memcpy(&item, bytes.data() + at, sizeof item);
    items.emplace_back(item,
                       std::string(reinterpret_cast<const char*>(bytes.data() + at + sizeof item), item.name_bytes));
    at += item.item_bytes;
  }
  return items;
}

TEST(Listing, SortsNamesAsUnsignedBytes) {
  const Scratch scratch;
  auto spool = SpoolFile::Make(scratch.path());
  ASSERT_TRUE(spool.ok());
  Listing listing(scratch.path());
  for (const char* name : {"b", "\xff", "a", "ab", "\x01"}) ASSERT_TRUE(listing.Add({}, name, "").ok());
  const auto place = listing.WriteSorted(**spool, [](FoundItem&, std::string_view) { FAIL(); });
  ASSERT_TRUE(place.ok());
  std::vector<std::string> names;
  for (const auto& [item, name] : ReadBack(**spool, *place)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"\x01", "a", "ab", "b", "\xff"}));
}

TEST(Listing, ALargeFolderGoesThroughAFileAndKeepsEverything) {
  const Scratch scratch;
  auto spool = SpoolFile::Make(scratch.path());
  ASSERT_TRUE(spool.ok());
  std::vector<std::string> names;
  names.reserve(60000);
  for (int i = 0; i < 60000; ++i) names.push_back("name-" + std::to_string(i));  // 3 MB of items
  std::shuffle(names.begin(), names.end(), std::mt19937(7));
  Listing listing(scratch.path());
  for (int round = 0; round < 2; ++round) {  // the second use must not see the first
    for (const std::string& name : names) {
      FoundItem item;
      item.kind = name.ends_with("7") ? FoundKind::kFolder : FoundKind::kFile;
      item.size = name.size();
      ASSERT_TRUE(listing.Add(item, name, "").ok());
    }
    uint64_t folders = 0;
    const auto place =
        listing.WriteSorted(**spool, [&](FoundItem& item, std::string_view) { item.size = 1000000 + folders++; });
    ASSERT_TRUE(place.ok());
    const auto items = ReadBack(**spool, *place);
    std::sort(names.begin(), names.end());
    ASSERT_EQ(items.size(), names.size());
    uint64_t numbered = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      ASSERT_EQ(items[i].second, names[i]);
      const bool folder = names[i].ends_with("7");
      ASSERT_EQ(items[i].first.size, folder ? 1000000 + numbered : names[i].size());
      if (folder) ++numbered;
    }
    EXPECT_EQ(numbered, folders);
  }
}

TEST(Listing, AFolderWithTheNameOfAFileIsTold) {
  const Scratch scratch;
  auto spool = SpoolFile::Make(scratch.path());
  ASSERT_TRUE(spool.ok());
  Listing listing(scratch.path());
  const auto add = [&listing](const char* name, FoundKind kind) {
    FoundItem item;
    item.kind = kind;
    ASSERT_TRUE(listing.Add(item, name, "").ok());
  };
  add("a", FoundKind::kFolder);
  add("a-", FoundKind::kFile);
  add("a", FoundKind::kFile);
  add("b", FoundKind::kFolder);
  std::vector<std::string> folders;
  const auto place =
      listing.WriteSorted(**spool, [&](FoundItem&, std::string_view name) { folders.emplace_back(name); });
  ASSERT_TRUE(place.ok());
  std::vector<std::pair<std::string, FoundKind>> all;
  for (const auto& [item, name] : ReadBack(**spool, *place)) all.emplace_back(name, item.kind);
  EXPECT_EQ(
      all,
      (std::vector<std::pair<std::string, FoundKind>>{
          {"a", FoundKind::kFile}, {"a", FoundKind::kTwice}, {"a-", FoundKind::kFile}, {"b", FoundKind::kFolder}}));
  EXPECT_EQ(folders, std::vector<std::string>{"b"});
}

}  // namespace
}  // namespace augur
