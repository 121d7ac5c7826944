// SPDX-License-Identifier: Apache-2.0
#include "recorded_runs/replay_store.h"

#include <sys/stat.h>

#include "unit/recorded_runs/replay_fixture.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ReplayStoreTest : public ReplayTest {
 protected:
  static Order First(const Order& order, size_t count) {
    return {order.begin(), order.begin() + static_cast<ptrdiff_t>(count)};
  }
};

TEST_F(ReplayStoreTest, WhatIsSavedIsLoaded) {
  const auto store = Open();
  const augur::Run run{.finding = "torch seed 0x1234, offset 2\nnext epoch 3",
                       .epochs = {Shuffled(1), {}, {5, 5, 99'999}}};
  const std::string name = ReplayStore::NewName();
  ASSERT_TRUE(store->Save(name, run).ok());
  const auto loaded = Open()->Load(name);
  ASSERT_TRUE(loaded.ok()) << loaded.status().text();
  EXPECT_EQ(loaded->finding, run.finding);
  EXPECT_EQ(loaded->epochs, run.epochs);
  const auto list = store->List();
  ASSERT_TRUE(list.ok());
  ASSERT_THAT(*list, SizeIs(1));
  EXPECT_EQ(list->front().name, name);
  EXPECT_EQ(list->front().finding, run.finding);
  EXPECT_THAT(list->front().epoch_files, ElementsAre(20'000, 0, 3));
  EXPECT_LT(list->front().bytes, 20'003 * 3 + 300) << "three bytes a file of a store of 100,000";
}

TEST_F(ReplayStoreTest, EntriesTakeAsManyBytesAsTheStoreNeeds) {
  for (const uint64_t entries : {uint64_t{1}, uint64_t{256}, uint64_t{257}, uint64_t{1} << 24, uint64_t{1} << 32}) {
    summary_.entry_count = entries;
    const auto store = Open();
    const std::string name = ReplayStore::NewName();
    const augur::Run run{.finding = "", .epochs = {{0, static_cast<EntryNumber>(entries - 1)}}};
    ASSERT_TRUE(store->Save(name, run).ok()) << entries;
    const auto loaded = store->Load(name);
    ASSERT_TRUE(loaded.ok()) << loaded.status().text();
    EXPECT_EQ(loaded->epochs, run.epochs);
    ASSERT_TRUE(store->Remove(name).ok());
  }
}

TEST_F(ReplayStoreTest, TheFolderIsTheUsersAlone) {
  Open();
  struct stat info {};
  ASSERT_EQ(::stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  ASSERT_EQ(::stat((parent_ + "/orders").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST_F(ReplayStoreTest, FindsTheRunAndTheEpoch) {
  const auto store = Open();
  std::vector<std::string> names;
  for (unsigned run = 0; run < 5; ++run) {
    names.push_back(ReplayStore::NewName());
    const augur::Run recorded{.finding = "",
                              .epochs = {Shuffled(10 * run), Shuffled(10 * run + 1), Shuffled(10 * run + 2)}};
    ASSERT_TRUE(store->Save(names.back(), recorded).ok());
  }
  for (const unsigned run : {0U, 3U, 4U}) {
    for (unsigned epoch = 0; epoch < 3; ++epoch) {
      const Order reads = First(Interleaved(Shuffled(10 * run + epoch), 4, 32, 5), 20);
      const auto matches = store->Match(reads);
      ASSERT_TRUE(matches.ok());
      ASSERT_THAT(*matches, SizeIs(1));
      EXPECT_EQ(matches->front().run, names[run]);
      EXPECT_EQ(matches->front().epoch, epoch);
      EXPECT_GT(matches->front().bits, 40);
    }
  }
  EXPECT_THAT(*store->Match(First(Shuffled(999), 20)), IsEmpty());
  EXPECT_THAT(*store->Match({}), IsEmpty());
}

TEST_F(ReplayStoreTest, AFileReadAgainAndAgainCountsOnce) {
  const auto store = Open();
  const Order order = Shuffled(1);
  ASSERT_TRUE(store->Save(ReplayStore::NewName(), {.finding = "", .epochs = {order}}).ok());
  const Order reads(50, order[0]);
  const auto matches = store->Match(reads);
  ASSERT_TRUE(matches.ok());
  ASSERT_THAT(*matches, SizeIs(1));
  EXPECT_LT(matches->front().bits, 15) << "one file in 20,000";
}

TEST_F(ReplayStoreTest, ARunThatComesAgainReplacesItself) {
  const auto store = Open();
  const std::string first = ReplayStore::NewName();
  const std::string second = ReplayStore::NewName();
  const std::string other = ReplayStore::NewName();
  ASSERT_TRUE(store->Save(first, {.finding = "", .epochs = {Shuffled(1), Shuffled(2)}}).ok());
  ASSERT_TRUE(store->Save(other, {.finding = "", .epochs = {Shuffled(3)}}).ok());
  ASSERT_TRUE(store->Save(second, {.finding = "x", .epochs = {Shuffled(1)}}).ok());
  EXPECT_THAT(*store->List(), SizeIs(3)) << "the first has an epoch more";
  ASSERT_TRUE(store->Save(second, {.finding = "x", .epochs = {Shuffled(1), Shuffled(2), Shuffled(4)}}).ok());
  const auto list = store->List();
  ASSERT_THAT(*list, SizeIs(2));
  EXPECT_EQ((*list)[0].name, second);
  EXPECT_EQ((*list)[1].name, other);
}

TEST_F(ReplayStoreTest, TheOldestGoesWhenTheLimitsAreReached) {
  const auto store = Open({.store_runs_max = 3});
  std::vector<std::string> names;
  for (unsigned run = 0; run < 3; ++run) {
    names.push_back(ReplayStore::NewName());
    ASSERT_TRUE(store->Save(names.back(), {.finding = "", .epochs = {Shuffled(run, 100)}}).ok());
  }
  ASSERT_TRUE(store->Touch(names[0]).ok());
  names.push_back(ReplayStore::NewName());
  ASSERT_TRUE(store->Save(names.back(), {.finding = "", .epochs = {Shuffled(50, 100)}}).ok());
  const auto list = store->List();
  ASSERT_THAT(*list, SizeIs(3));
  EXPECT_EQ((*list)[0].name, names[3]);
  EXPECT_EQ((*list)[1].name, names[0]);
  EXPECT_EQ((*list)[2].name, names[2]);
}

TEST_F(ReplayStoreTest, BytesAreBoundedOfARunAndOfAll) {
  const auto store = Open({.run_bytes_max = 130'000, .store_bytes_max = 200'000});
  const std::string name = ReplayStore::NewName();
  ASSERT_TRUE(store->Save(name, {.finding = "kept", .epochs = {Shuffled(1), Shuffled(2), Shuffled(3)}}).ok());
  const auto run = store->Load(name);
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->epochs, ElementsAre(Shuffled(1), Shuffled(2)));
  EXPECT_EQ(run->finding, "kept");
  ASSERT_TRUE(store->Save(ReplayStore::NewName(), {.finding = "", .epochs = {Shuffled(4), Shuffled(5)}}).ok());
  EXPECT_THAT(*store->List(), SizeIs(1));
  EXPECT_EQ(store->Load(name).status().code(), Code::kNotFound);
}

TEST_F(ReplayStoreTest, ARunThatIsTooLongIsNotLoaded) {
  const auto store = Open({.load_bytes_max = uint64_t{3} * 100 * sizeof(EntryNumber)});
  for (const size_t epochs : {3U, 4U}) {
    const std::string name = ReplayStore::NewName();
    ASSERT_TRUE(store->Save(name, {.finding = "", .epochs = std::vector<Order>(epochs, Shuffled(1, 100))}).ok());
    EXPECT_EQ(store->Load(name).status().code(), epochs == 3 ? Code::kOk : Code::kNoSpace);
  }
}

TEST_F(ReplayStoreTest, AnotherGenerationDiscardsTheEarlierAndLeavesTheLater) {
  const std::string name = ReplayStore::NewName();
  ASSERT_TRUE(Open()->Save(name, {.finding = "", .epochs = {Shuffled(1)}}).ok());
  summary_.generation = 2;
  summary_.index_id.low = 77;
  EXPECT_THAT(*Open()->List(), IsEmpty());
  EXPECT_THAT(*Open()->Match(Shuffled(1)), IsEmpty());
  EXPECT_EQ(Open()->Load(name).status().code(), Code::kNotFound);
  EXPECT_EQ(FileCount(), 1U) << "a later daemon's";
  summary_.generation = 4;
  EXPECT_THAT(*Open()->List(), IsEmpty());
  EXPECT_EQ(FileCount(), 0U);
}

TEST_F(ReplayStoreTest, AnotherStoreInTheSamePlaceDiscards) {
  ASSERT_TRUE(Open()->Save(ReplayStore::NewName(), {.finding = "", .epochs = {Shuffled(1)}}).ok());
  summary_.index_id.high = 9;
  EXPECT_THAT(*Open()->List(), IsEmpty());
  EXPECT_EQ(FileCount(), 0U);
}

TEST_F(ReplayStoreTest, RunsAreRemoved) {
  const auto store = Open();
  const std::string name = ReplayStore::NewName();
  ASSERT_TRUE(store->Save(name, {.finding = "a", .epochs = {}}).ok());
  ASSERT_TRUE(store->Save(ReplayStore::NewName(), {.finding = "b", .epochs = {}}).ok());
  WriteText(folder_ + "/note", "not ours");
  ASSERT_TRUE(store->Remove(name).ok());
  EXPECT_TRUE(store->Remove(name).ok()) << "gone already";
  EXPECT_THAT(*store->List(), SizeIs(1));
  EXPECT_EQ(FileCount(), 2U);
  EXPECT_EQ(store->Touch(name).code(), Code::kNotFound);
}

TEST_F(ReplayStoreTest, WhatCannotBeKeptIsRefused) {
  const auto store = Open();
  EXPECT_EQ(store->Save("../x", {}).code(), Code::kInvalid);
  EXPECT_EQ(store->Save(ReplayStore::NewName(), {.finding = std::string(4097, 'x'), .epochs = {}}).code(),
            Code::kInvalid);
  EXPECT_EQ(store->Save(ReplayStore::NewName(), {.finding = "", .epochs = {{100'000}}}).code(), Code::kInvalid);
  EXPECT_EQ(store->Load("../x").status().code(), Code::kNotFound);
  EXPECT_EQ(store->Remove("../x").code(), Code::kNotFound);
  EXPECT_EQ(FileCount(), 0U);
  summary_.entry_count = (uint64_t{1} << 32) + 1;
  EXPECT_EQ(ReplayStore::Open(folder_, summary_).status().code(), Code::kUnsupported);
}

TEST(ReplayFolderPathTest, FollowsTheVariables) {
  EXPECT_THAT(ReplayFolderPath("/cache", "/home/u", "/"), HasSubstr("/cache/augurfs/orders/"));
  EXPECT_THAT(ReplayFolderPath("relative", "/home/u", "/"), HasSubstr("/home/u/.cache/augurfs/orders/"));
  EXPECT_THAT(ReplayFolderPath(nullptr, "/home/u", "/"), HasSubstr("/home/u/.cache/augurfs/orders/"));
  EXPECT_EQ(ReplayFolderPath("", nullptr, "/"), "");
  EXPECT_EQ(ReplayFolderPath(nullptr, "relative", "/"), "");
  EXPECT_EQ(ReplayFolderPath("/c", nullptr, "/usr/../usr/"), ReplayFolderPath("/c", nullptr, "/usr"));
  EXPECT_NE(ReplayFolderPath("/c", nullptr, "/usr"), ReplayFolderPath("/c", nullptr, "/tmp"));
}

}  // namespace
}  // namespace augur
