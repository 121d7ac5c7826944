// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "store/duplicate_table.h"
#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

TEST_F(StoreWriterTest, IdenticalFilesAreStoredOnce) {
  const auto writer = Begin();
  const std::string big(300'000, 'x');
  ASSERT_TRUE(AddText(*writer, "a", "same").ok());
  ASSERT_TRUE(AddText(*writer, "b", "same").ok()) << "while the first is still in the buffer";
  ASSERT_TRUE(AddText(*writer, "c", big).ok());
  ASSERT_TRUE(AddText(*writer, "d", std::string(2'000'000, 'y')).ok()) << "which empties the buffer";
  ASSERT_TRUE(AddText(*writer, "e", "same").ok());
  ASSERT_TRUE(AddText(*writer, "f", big).ok());
  ASSERT_TRUE(AddText(*writer, "g", std::string(2'000'000, 'y')).ok());
  ASSERT_TRUE(AddText(*writer, "h", "").ok());
  ASSERT_TRUE(AddText(*writer, "i", "").ok());
  const auto summary = writer->Commit();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->duplicate_count, 4u) << "empty files have no record that could be one";
  EXPECT_EQ(summary->stored_bytes, 2'300'004u);
  EXPECT_EQ(summary->tree_bytes, 4'600'012u);
  EXPECT_EQ(Defects(), "");
  const auto store = *Store::Open(store_);
  EXPECT_EQ(store->summary().record_bytes, 2'300'004u);
  EXPECT_EQ(store->Find("a")->offset, store->Find("e")->offset);
  EXPECT_EQ(ReadFile(*store, "g"), std::string(2'000'000, 'y'));
}

TEST_F(StoreWriterTest, AWrongHashFindsNoDuplicate) {
  // The bytes decide: two records that claim the same hash are both stored, and the one with the wrong claim is found
  // out when it is read.
  const auto writer = Begin();
  const RecordHashes claim{.whole = {.hash = {.low = 1, .high = 2}, .digest = {}}, .blocks = {}};
  ASSERT_TRUE(writer->AddFile("a", {}, {}, Bytes("one"), claim).ok());
  ASSERT_TRUE(writer->AddFile("b", {}, {}, Bytes("two"), claim).ok());
  const auto summary = writer->Commit();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->duplicate_count, 0u);
  const auto store = *Store::Open(store_);
  EXPECT_NE(store->Find("a")->offset, store->Find("b")->offset);
  EXPECT_THAT(ReadFile(*store, "b"), testing::HasSubstr("checksum mismatch"));
}

TEST_F(StoreWriterTest, AnAppendFindsTheRecordsOfTheOldTree) {
  const std::string large(3'000'000, 'z');
  Create({{"a", "same"}, {"large", large}});
  const auto writer = Begin({.mode = WriteMode::kAppend});
  ASSERT_TRUE(AddText(*writer, "b", "same").ok());
  ASSERT_TRUE(AddText(*writer, "large2", large).ok());
  const auto summary = writer->Commit();
  ASSERT_TRUE(summary.ok()) << summary.status().text();
  EXPECT_EQ(summary->duplicate_count, 2u);
  EXPECT_EQ(summary->stored_bytes, 0u);
  EXPECT_EQ(summary->generation, 2u);
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(ReadFile("large2"), large);
  EXPECT_EQ(ReadFile("large"), large);
  const auto store = *Store::Open(store_);
  EXPECT_EQ(store->Find("large")->first_block, store->Find("large2")->first_block);
}

TEST_F(StoreWriterTest, ARecordThatCannotBeComparedIsStoredAgain) {
  Create({{"a", "same"}});
  const auto writer = Begin({.mode = WriteMode::kAppend});
  std::filesystem::resize_file(store_ + "/shard-00000001-00000", 65);
  ASSERT_TRUE(AddText(*writer, "b", "same").ok());
  const auto summary = writer->Commit();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->duplicate_count, 0u);
  EXPECT_EQ(ReadFile("b"), "same");
}

TEST(DuplicateTable, FindsEveryNumberOfAFingerprint) {
  DuplicateTable table;
  constexpr uint64_t kCount = 200'000;
  const auto fingerprint = [](uint64_t i) { return (i % 50'000) * 0x9E3779B97F4A7C15; };  // 0 among them
  for (uint64_t i = 0; i < kCount; ++i) ASSERT_TRUE(table.Insert(fingerprint(i), i).ok());
  for (uint64_t i = 0; i < 50'000; ++i) {
    uint64_t sum = 0;
    EXPECT_FALSE(table.Find(fingerprint(i), [&](uint64_t number) {
      sum += number;
      return false;
    }));
    ASSERT_EQ(sum, 4 * i + 50'000 + 100'000 + 150'000) << i;
    ASSERT_TRUE(table.Find(fingerprint(i), [&](uint64_t number) { return number == i + 100'000; }));
  }
  EXPECT_FALSE(table.Find(12345, [](uint64_t) { return true; }));
  table.Clear();
  EXPECT_FALSE(table.Find(fingerprint(7), [](uint64_t) { return true; }));
}

TEST(DuplicateTable, KeepsFingerprintsThatAllBeginAlike) {
  DuplicateTable table;  // one partition, one home: the longest probe there is
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(table.Insert(~uint64_t{0}, i).ok());
  uint64_t count = 0;
  EXPECT_FALSE(table.Find(~uint64_t{0}, [&](uint64_t) {
    ++count;
    return false;
  }));
  EXPECT_EQ(count, 1000u);
}

}  // namespace
}  // namespace augur
