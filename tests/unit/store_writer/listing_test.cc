// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

using testing::ElementsAre;

class ListingTest : public StoreWriterTest {
 protected:
  static Status AddAt(StoreWriter& writer, std::string_view path, uint64_t place) {
    return writer.AddFile(path, {.mode = 0644, .mtime_sec = 1, .place = place}, {}, Bytes(path));
  }

  // What a folder lists; each child must also say that it stands there.
  std::vector<std::string> Listed(std::string_view path) const {
    const auto store = Store::Open(store_);
    if (!store.ok()) return {store.status().text()};
    const Result<Entry> folder = (*store)->Find(path);
    if (!folder.ok()) return {folder.status().text()};
    std::vector<std::string> names;
    for (uint64_t place = 0; place < folder->size; ++place) {
      const Result<uint64_t> position = (*store)->ListedPosition(*folder, place);
      if (!position.ok()) return {position.status().text()};
      const Result<uint64_t> back = (*store)->ListingPlace(*folder, *position);
      EXPECT_TRUE(back.ok() && *back == place);
      names.emplace_back((*store)->Child(*folder, *position)->name);
    }
    return names;
  }
};

TEST_F(ListingTest, FoldersListByPlace) {
  const auto writer = Begin({.listing = true});
  ASSERT_TRUE(AddAt(*writer, "a", 7).ok());
  ASSERT_TRUE(writer->AddDirectory("b", {.mode = 0755, .place = 2}).ok());
  ASSERT_TRUE(AddAt(*writer, "b/x", 9).ok());
  ASSERT_TRUE(AddAt(*writer, "b/y", 8).ok());
  ASSERT_TRUE(writer->AddSymlink("c", {.mode = 0777, .place = 0}, "a").ok());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(Defects(), "");
  EXPECT_THAT(Listed(""), ElementsAre("c", "b", "a"));
  EXPECT_THAT(Listed("b"), ElementsAre("y", "x"));
  const auto store = *Store::Open(store_);
  EXPECT_TRUE(store->summary().has_listing);
  EXPECT_EQ(store->Child(*store->Get(0), 0)->name, "a") << "positions stay those of the names";
  EXPECT_EQ(ReadFile(*store, "b/x"), "b/x");
}

TEST_F(ListingTest, WhatHasNoPlaceComesLastByName) {
  const auto writer = Begin({.listing = true});
  ASSERT_TRUE(AddText(*writer, "d", "d").ok());
  ASSERT_TRUE(AddText(*writer, "b/made/of/this", "path").ok());
  ASSERT_TRUE(AddAt(*writer, "c", 1).ok());
  ASSERT_TRUE(AddAt(*writer, "e", 0).ok());
  ASSERT_TRUE(writer->AddHardLink("a", "e").ok()) << "a link does not stand where its target does";
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(Defects(), "");
  EXPECT_THAT(Listed(""), ElementsAre("e", "c", "a", "b", "d"));
}

TEST_F(ListingTest, PlacesAreForgottenWithoutTheOption) {
  const auto writer = Begin();
  ASSERT_TRUE(AddAt(*writer, "a", 1).ok());
  ASSERT_TRUE(AddAt(*writer, "b", 0).ok());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_FALSE((*Store::Open(store_))->summary().has_listing);
  EXPECT_THAT(Listed(""), ElementsAre("a", "b"));
}

TEST_F(ListingTest, AppendKeepsTheListingAndAddsBehindIt) {
  {
    const auto writer = Begin({.listing = true});
    ASSERT_TRUE(AddAt(*writer, "k", 5).ok());
    ASSERT_TRUE(AddAt(*writer, "m", 4).ok());
    ASSERT_TRUE(AddAt(*writer, "z/one", 0).ok());
    ASSERT_TRUE(writer->Commit().ok());
  }
  EXPECT_THAT(Listed(""), ElementsAre("m", "k", "z"));
  for (const char* added : {"c", "b"}) {
    const auto writer = Begin({.mode = WriteMode::kAppend});
    ASSERT_TRUE(AddAt(*writer, std::string(added) + "2", 0).ok());
    ASSERT_TRUE(AddAt(*writer, std::string(added) + "1", 1).ok());
    ASSERT_TRUE(AddAt(*writer, std::string("z/") + added, 0).ok());
    ASSERT_TRUE(writer->Commit().ok());
    EXPECT_EQ(Defects(), "");
  }
  EXPECT_THAT(Listed(""), ElementsAre("m", "k", "z", "c2", "c1", "b2", "b1"));
  EXPECT_THAT(Listed("z"), ElementsAre("one", "c", "b"));
}

TEST_F(ListingTest, AppendDoesNotBeginAListing) {
  Create({{"a", "a"}, {"b", "b"}});
  const auto writer = Begin({.mode = WriteMode::kAppend, .listing = true});
  ASSERT_TRUE(AddAt(*writer, "0", 9).ok());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_FALSE((*Store::Open(store_))->summary().has_listing);
}

}  // namespace
}  // namespace augur
