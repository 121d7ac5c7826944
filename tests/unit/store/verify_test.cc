// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "augur/store.h"
#include "unit/store/test_store.h"

// What only a full check sees: counts, reachability, catalogues. What a reader refuses at use is in refusal_test.cc.
namespace augur {
namespace {

using namespace augur::testing;  // NOLINT(google-build-using-namespace)
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kShard = "shard-00000001-00000";

struct Found {
  std::vector<std::string> defects;
  std::vector<uint64_t> progress;
  VerifyReport report;
};

Found Verify(const std::string& folder, int threads = 2) {
  Found found;
  const Result<VerifyReport> report = VerifyStore(
      folder, threads,
      [&](const Status& status) {
        EXPECT_NE(status.code(), Code::kOk);
        found.defects.push_back(status.text());
      },
      [&](uint64_t bytes) { found.progress.push_back(bytes); });
  EXPECT_TRUE(report.ok()) << report.status().text();
  if (report.ok()) found.report = *report;
  EXPECT_EQ(found.report.defects, found.defects.size());
  return found;
}

Found VerifyEdited(const std::function<void(TestStore&)>& edit) {
  const TempFolder folder;
  TestStore store = SmallStore();
  edit(store);
  store.Write(folder.path());
  return Verify(folder.path());
}

TEST(Verify, AGoodStoreHasNoDefect) {
  for (const int threads : {1, 3}) {
    const TempFolder folder;
    SmallStore().Write(folder.path());
    const Found found = Verify(folder.path(), threads);
    EXPECT_THAT(found.defects, IsEmpty());
    EXPECT_EQ(found.report.index_blocks, 1U);
    EXPECT_EQ(found.report.entries, 9U);
    EXPECT_EQ(found.report.shards, 2U);
    EXPECT_EQ(found.report.records, 3U);
    EXPECT_EQ(found.report.record_bytes, kBigBytes + 3000 + 700);
    EXPECT_EQ(found.report.catalogue_items, 5U);
    ASSERT_FALSE(found.progress.empty());
    EXPECT_TRUE(std::is_sorted(found.progress.begin(), found.progress.end()));
    EXPECT_EQ(found.progress.back(), kBigBytes + 3000 + 700);
  }
}

TEST(Verify, WhatCannotBeOpenedIsAFailure) {
  const TempFolder folder;
  EXPECT_EQ(VerifyStore(folder.path(), 1, {}, {}).status().code(), Code::kNotFound);
}

TEST(Verify, CountsOfTheHeader) {
  const auto edit = [](void (*change)(format::IndexHeader&)) {
    return VerifyEdited([&](TestStore& store) { store.edit_header = change; }).defects;
  };
  const std::string file = "index-00000001: header: ";
  EXPECT_THAT(edit([](format::IndexHeader& h) { ++h.file_count; }), ElementsAre(file + "file count 6, counted are 5"));
  EXPECT_THAT(edit([](format::IndexHeader& h) { --h.directory_count; }),
              ElementsAre(file + "directory count 2, counted are 3"));
  EXPECT_THAT(edit([](format::IndexHeader& h) { ++h.symlink_count; }),
              ElementsAre(file + "symlink count 2, counted are 1"));
  EXPECT_THAT(edit([](format::IndexHeader& h) { ++h.image_count; }),
              ElementsAre(file + "image count 3, counted are 2"));
  EXPECT_THAT(edit([](format::IndexHeader& h) { h.tree_bytes = 1; }), ElementsAre(HasSubstr("tree bytes 1, counted")));
  EXPECT_THAT(edit([](format::IndexHeader& h) { h.record_bytes = 1; }),
              ElementsAre(HasSubstr("record bytes 1, counted")));
}

TEST(Verify, AnEntryThatNoDirectoryLists) {
  const Found found = VerifyEdited([](TestStore& store) { store.entries[kDirA].size = 1; });
  EXPECT_THAT(found.defects, ElementsAre("index-00000001: entry 8: it is not among the children of its parent"));
}

TEST(Verify, AParentThatIsAFile) {
  const Found found = VerifyEdited([](TestStore& store) { store.entries[kOne].parent = kZero; });
  EXPECT_THAT(found.defects, Contains("index-00000001: entry 8: its parent is not a directory"));
  EXPECT_THAT(found.defects, Contains("index-00000001: entry 8: its parent is not the directory that lists it"));
}

// "d" in "d" in "d" ..., each name as long as may be: the 17th has a path of 17 * 256 - 1 bytes.
TEST(Verify, APathThatIsTooLong) {
  const TempFolder folder;
  TestStore store = WideStore(0);
  for (uint64_t i = 0; i < 17; ++i) {
    store.entries[i].size = 1;
    store.entries[i].offset = i + 1;
    format::Entry folder_entry = store.entries[0];
    folder_entry.size = folder_entry.offset = 0;
    folder_entry.parent = i;
    store.SetName(&folder_entry, std::string(255, 'd'));
    store.entries.push_back(folder_entry);
  }
  store.Write(folder.path());
  EXPECT_THAT(Verify(folder.path()).defects, ElementsAre("index-00000001: entry 17: its path is over 4,095 bytes"));
  const Result<std::shared_ptr<const Store>> opened = Store::Open(folder.path());
  EXPECT_TRUE((*opened)->PathOf(16).ok());
  EXPECT_EQ((*opened)->PathOf(17).status().code(), Code::kCorrupt);
}

TEST(Verify, ABadBlockIsToldOnce) {
  const TempFolder folder;
  TestStore wide = WideStore(5000);
  wide.edit_index = [](std::string& index) { index[65536 + 3 * 65536 + 1000] ^= 1; };
  wide.Write(folder.path());
  EXPECT_THAT(Verify(folder.path()).defects, ElementsAre("index-00000001: block 3: checksum mismatch"));
}

TEST(Verify, EveryFileOfADamagedRecordIsNamed) {
  const Found found = VerifyEdited([](TestStore& store) { store.files[kShard][64 + kBigBytes] ^= 1; });
  EXPECT_THAT(found.defects, ElementsAre(std::string(kShard) + ": record 5 (twin.jpg): checksum mismatch",
                                         std::string(kShard) + ": record 8 (a/one.jpg): checksum mismatch"));
  EXPECT_EQ(found.report.records, 3U);
}

TEST(Verify, AHashThatOnlyASharerStatesWrongly) {
  const Found found = VerifyEdited([](TestStore& store) { store.entries[kOne].hash.low ^= 1; });
  EXPECT_THAT(found.defects, Contains(std::string(kShard) + ": record 8 (a/one.jpg): checksum mismatch"));
}

TEST(Verify, TheHashOfALargeRecordBesideThoseOfItsBlocks) {
  const Found found = VerifyEdited([](TestStore& store) { store.entries[kBig].hash.low ^= 1; });
  EXPECT_THAT(found.defects, Contains(std::string(kShard) + ": record 7 (a/big.bin): checksum mismatch"));
}

TEST(Verify, AShardThatNobodyNeedsMayBeMissing) {
  const Found found = VerifyEdited([](TestStore& store) {
    format::Shard unused = store.shards[0];
    unused.locator_offset = store.names.size();
    store.names += "shard-00000001-00002";
    store.shards.push_back(unused);
  });
  EXPECT_THAT(found.defects, IsEmpty());
  EXPECT_EQ(found.report.shards, 3U);
}

// Replaces the own shard by one with another catalogue, of the same length or not.
void SetCatalogue(TestStore* store, const std::string& items, uint32_t count) {
  store->files[kShard] = OwnShard(0, 1, BigBytes() + OneBytes(), items, count);
  store->shards[0].file_bytes = store->files[kShard].size();
}

std::string GoodItems(const TestStore& store) {
  return CatalogueItem("a/big.bin", store.entries[kBig], store.blocks) +
         CatalogueItem("a/one.jpg", store.entries[kOne], {});
}

// The defects of a store whose catalogue has one more item, made from a/one.jpg's by `edit`.
std::vector<std::string> WithItem(const std::string& path, const std::function<void(format::Entry&)>& edit) {
  return VerifyEdited([&](TestStore& store) {
           format::Entry entry = store.entries[kOne];
           edit(entry);
           SetCatalogue(&store, GoodItems(store) + CatalogueItem(path, entry, {}), 3);
         })
      .defects;
}

TEST(VerifyCatalogue, MayKnowFilesThatTheIndexDoesNot) {
  EXPECT_THAT(WithItem("gone.jpg", [](format::Entry& entry) { entry.size = 1500; }), IsEmpty());
}

TEST(VerifyCatalogue, ARecordThatItDoesNotList) {
  const Found found = VerifyEdited(
      [](TestStore& store) { SetCatalogue(&store, CatalogueItem("a/big.bin", store.entries[kBig], store.blocks), 1); });
  EXPECT_THAT(found.defects, ElementsAre(HasSubstr("record 5 (twin.jpg): not in the catalogue of its shard")));
}

TEST(VerifyCatalogue, AHashOtherThanTheIndexHas) {
  EXPECT_THAT(WithItem("a/one.jpg", [](format::Entry& entry) { entry.hash.low ^= 1; }),
              ElementsAre(HasSubstr("catalogue: item 'a/one.jpg': its hash is not the one in the index")));
  const Found found = VerifyEdited([](TestStore& store) {
    std::vector<format::Hash> blocks = store.blocks;
    blocks[1].low ^= 1;
    SetCatalogue(&store, CatalogueItem("a/big.bin", store.entries[kBig], blocks), 1);
  });
  EXPECT_THAT(found.defects, Contains(HasSubstr("item 'a/big.bin': a block hash is not the one in the index")));
}

TEST(VerifyCatalogue, ItemsThatBreakARule) {
  using E = format::Entry;
  const auto keep = [](E&) {};
  EXPECT_THAT(WithItem("a/../x", keep), ElementsAre(HasSubstr("'.' or '..'")));
  EXPECT_THAT(WithItem("/x", keep), ElementsAre(HasSubstr("empty component")));
  EXPECT_THAT(WithItem(std::string(4096, 'x'), keep), ElementsAre(HasSubstr("4,095")));
  EXPECT_THAT(WithItem("x", [](E& e) { e.mode = 0060644; }), ElementsAre(HasSubstr("'x': an unknown type")));
  EXPECT_THAT(WithItem("", keep), ElementsAre(HasSubstr("a root that is not a directory")));
  EXPECT_THAT(WithItem("x", [](E& e) { e.mtime_nsec = ~0U; }), ElementsAre(HasSubstr("'x': nanoseconds")));
  EXPECT_THAT(WithItem("x", [](E& e) { e.mode = 0120777; }), ElementsAre(HasSubstr("'x': a link target of 0")));
  EXPECT_THAT(WithItem("x", [](E& e) { e.mode = 0040755; }), ElementsAre(HasSubstr("'x': a hash without a record")));
  EXPECT_THAT(WithItem("x", [](E& e) { e.size = 0; }), ElementsAre(HasSubstr("'x': a shard without a record")));
  EXPECT_THAT(WithItem("x", [](E& e) { e.size = 2 << 20; }), ElementsAre(HasSubstr("another number of block hashes")));
  EXPECT_THAT(WithItem("x", [](E& e) { e.shard = kNoShard; }), ElementsAre(HasSubstr("a record without a shard")));
  EXPECT_THAT(WithItem("x", [](E& e) { e.shard = 9; }), ElementsAre(HasSubstr("not in the shard table")));
  EXPECT_THAT(WithItem("x", [](E& e) { e.offset = 3; }), ElementsAre(HasSubstr("in the header of its shard")));
  EXPECT_THAT(WithItem("x", [](E& e) { e.offset = ~uint64_t{0}; }), ElementsAre(HasSubstr("leaves its shard")));
  EXPECT_THAT(WithItem("x", [](E& e) { e.image_kind = 7; }), ElementsAre(HasSubstr("an unknown image kind")));
}

TEST(VerifyCatalogue, FramesAndTrailer) {
  // Applies `edit` to the trailer (and, by its offset, the catalogue) and makes the trailer's own sum right again.
  const auto edited = [](const std::function<void(format::ShardTrailer&, std::string&)>& edit) {
    return VerifyEdited([&](TestStore& store) {
             std::string& file = store.files[kShard];
             format::ShardTrailer trailer;
             std::memcpy(&trailer, file.data() + file.size() - sizeof(trailer), sizeof(trailer));
             edit(trailer, file);
             trailer.catalogue_sum =
                 SumOf(file.substr(64 + kBigBytes + 3000, file.size() - 64 - (64 + kBigBytes + 3000)));
             const std::string bytes(reinterpret_cast<const char*>(&trailer), sizeof(trailer));
             trailer.sum = SumOf(bytes.substr(0, 56));
             std::memcpy(file.data() + file.size() - sizeof(trailer), &trailer, sizeof(trailer));
           })
        .defects;
  };
  using T = format::ShardTrailer;
  EXPECT_THAT(edited([](T&, std::string&) {}), IsEmpty());
  EXPECT_THAT(edited([](T& t, std::string&) { t.magic[0] = 'X'; }), ElementsAre(HasSubstr("trailer: wrong magic")));
  EXPECT_THAT(edited([](T& t, std::string&) { t.version = 3; }), ElementsAre(HasSubstr("trailer: version 3")));
  EXPECT_THAT(edited([](T& t, std::string&) { t.number = 4; }), ElementsAre(HasSubstr("trailer: shard number")));
  EXPECT_THAT(edited([](T& t, std::string&) { t.generation = 4; }), ElementsAre(HasSubstr("trailer: generation")));
  EXPECT_THAT(edited([](T& t, std::string&) { t.item_count = 4; }), ElementsAre(HasSubstr("trailer: item count")));
  EXPECT_THAT(edited([](T& t, std::string&) { --t.catalogue_bytes; }), ElementsAre(HasSubstr("does not end where")));
  EXPECT_THAT(edited([](T& t, std::string&) { t.catalogue_offset = ~uint64_t{0}; }),
              ElementsAre(HasSubstr("does not end where")));
  const size_t frame = 64 + kBigBytes + 3000;
  EXPECT_THAT(edited([=](T&, std::string& f) { f[frame] = 'X'; }), ElementsAre(HasSubstr("wrong magic")));
  EXPECT_THAT(edited([=](T&, std::string& f) { f[frame + 7] = 1; }), ElementsAre(HasSubstr("past the end")));
  EXPECT_THAT(edited([=](T&, std::string& f) { f[frame + 8] = 6; }), ElementsAre(HasSubstr("number of items")));
  EXPECT_THAT(edited([=](T&, std::string& f) { f[frame + 12] = 1; }), ElementsAre(HasSubstr("reserved")));
  EXPECT_THAT(edited([=](T&, std::string& f) { f[frame + 30] ^= 1; }), ElementsAre(HasSubstr("checksum mismatch")));

  const auto flipped = [](size_t from_end) {
    return VerifyEdited([&](TestStore& store) {
             std::string& file = store.files[kShard];
             file[file.size() - from_end] ^= 1;
           })
        .defects;
  };
  EXPECT_THAT(flipped(1), ElementsAre(HasSubstr("trailer: checksum mismatch")));
  EXPECT_THAT(flipped(70), ElementsAre(HasSubstr("catalogue: checksum mismatch")));
}

TEST(VerifyCatalogue, AShardCutToItsHeader) {
  const Found found = VerifyEdited([](TestStore& store) {
    store.files[kShard].resize(64);
    store.shards[0].file_bytes = 64;
    for (const SmallEntry number : {kBig, kOne, kTwin}) store.entries[number] = store.entries[kTar];
    store.SetName(&store.entries[kBig], "big.bin");
    store.SetName(&store.entries[kOne], "one.jpg");
    store.SetName(&store.entries[kTwin], "twin.jpg");
    store.entries[kBig].parent = store.entries[kOne].parent = kDirA;
  });
  EXPECT_THAT(found.defects, ElementsAre(HasSubstr("trailer: no room for it")));
}

}  // namespace
}  // namespace augur
