// SPDX-License-Identifier: Apache-2.0

#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

using testing::ElementsAre;

TEST_F(StoreWriterTest, OldGenerationsAreRemoved) {
  Create({{"a", "one"}});
  Create({{"a", "two"}}, {.mode = WriteMode::kReplace});
  Create({{"b", "three"}}, {.mode = WriteMode::kAppend});
  const auto report = RemoveOldGenerations(store_);
  ASSERT_TRUE(report.ok()) << report.status().text();
  EXPECT_EQ(report->removed_files, 3u);
  EXPECT_GT(report->removed_bytes, 2u * 65536);
  EXPECT_EQ(report->kept_generations, 0u);
  EXPECT_THAT(Files(), ElementsAre("index-00000003", "shard-00000002-00000", "shard-00000003-00001"));
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(ReadFile("a"), "two");
  EXPECT_EQ(ReadFile("b"), "three");
  EXPECT_EQ(RemoveOldGenerations(store_)->removed_files, 0u);
}

TEST_F(StoreWriterTest, AGenerationInUseIsKeptWithItsShards) {
  Create({{"a", "one"}});
  const auto reader = *Store::Open(store_);
  Create({{"a", "two"}}, {.mode = WriteMode::kReplace});
  Create({{"a", "three"}}, {.mode = WriteMode::kReplace});
  auto report = RemoveOldGenerations(store_);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->kept_generations, 1u);
  EXPECT_THAT(Files(), ElementsAre("index-00000001", "index-00000003", "shard-00000001-00000", "shard-00000003-00000"));
  EXPECT_EQ(ReadFile(*reader, "a"), "one");
}

TEST_F(StoreWriterTest, AfterTheReaderIsGoneItsGenerationGoesToo) {
  Create({{"a", "one"}});
  auto reader = *Store::Open(store_);
  Create({{"a", "two"}}, {.mode = WriteMode::kReplace});
  EXPECT_EQ(RemoveOldGenerations(store_)->kept_generations, 1u);
  reader.reset();
  EXPECT_EQ(RemoveOldGenerations(store_)->removed_files, 2u);
  EXPECT_THAT(Files(), ElementsAre("index-00000002", "shard-00000002-00000"));
}

TEST_F(StoreWriterTest, ACollectionThatIsStoppedLeavesTheRestToTheNext) {
  Create({{"a", "one"}});
  Create({{"a", "two"}}, {.mode = WriteMode::kReplace});
  Create({{"a", "three"}}, {.mode = WriteMode::kReplace});
  for (size_t removed = 1; removed < 4; ++removed) {
    int asked = 0;
    const Status stopped = RemoveOldGenerations(store_, {}, [&] { return asked++ > 0; }).status();
    EXPECT_EQ(stopped.code(), Code::kStopped);
    EXPECT_EQ(Files().size(), 6U - removed);
    EXPECT_EQ(Defects(), "");
    EXPECT_EQ(ReadFile("a"), "three");
  }
  EXPECT_EQ(RemoveOldGenerations(store_)->removed_files, 1U);
  EXPECT_THAT(Files(), ElementsAre("index-00000003", "shard-00000003-00000"));
}

TEST_F(StoreWriterTest, AGenerationIsKeptForItsGrace) {
  using std::chrono::hours;
  Create({{"a", "one"}});
  Create({{"a", "two"}}, {.mode = WriteMode::kReplace});
  Create({{"a", "three"}}, {.mode = WriteMode::kReplace});
  // The first was the current one until a week ago, the second until now.
  const auto path = std::filesystem::path(store_) / "index-00000002";
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - hours(24 * 7));
  EXPECT_EQ(RemoveOldGenerations(store_, hours(24 * 8))->kept_generations, 2u);
  const auto report = RemoveOldGenerations(store_, hours(24 * 6));
  ASSERT_TRUE(report.ok()) << report.status().text();
  EXPECT_EQ(report->kept_generations, 1u);
  EXPECT_THAT(Files(), ElementsAre("index-00000002", "index-00000003", "shard-00000002-00000", "shard-00000003-00000"));
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(RemoveOldGenerations(store_)->kept_generations, 0u);
}

TEST_F(StoreWriterTest, RemovalWaitsForNoWriter) {
  Create({{"a", "one"}});
  const auto writer = Begin({.mode = WriteMode::kAppend});
  EXPECT_EQ(RemoveOldGenerations(store_).status().code(), Code::kBusy);
}

TEST_F(StoreWriterTest, RemovalNeedsAStore) {
  EXPECT_EQ(RemoveOldGenerations(store_).status().code(), Code::kNotFound);
  std::filesystem::create_directory(store_);
  EXPECT_EQ(RemoveOldGenerations(store_).status().code(), Code::kNotFound);
  EXPECT_TRUE(std::filesystem::is_empty(store_));
}

TEST_F(StoreWriterTest, DebrisOfAKilledWriterIsRemoved) {
  Create({{"a", "one"}});
  for (const char* name :
       {"shard-00000002-00001", "shard-00000002-00001.catalogue", "index-00000002", "manifest.new"}) {
    WriteText(store_ + "/" + name, "debris");
  }
  EXPECT_EQ(RemoveOldGenerations(store_)->removed_files, 4u);
  EXPECT_EQ(ReadFile("a"), "one");
}

}  // namespace
}  // namespace augur
