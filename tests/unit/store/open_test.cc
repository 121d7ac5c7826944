// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "augur/store.h"
#include "base/unique_fd.h"
#include "unit/store/test_store.h"

// How a store is found, locked and opened while others write to it.
namespace augur {
namespace {

using namespace augur::testing;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

TEST(Open, NoFolderIsNotFound) {
  const TempFolder folder;
  const Status status = Store::Open(folder.path() + "/absent").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.text(), HasSubstr(folder.path() + "/absent"));
}

TEST(Open, AFolderWithoutManifestIsNoStore) {
  const TempFolder folder;
  const Status status = Store::Open(folder.path()).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.text(), HasSubstr("not a store"));
}

TEST(Open, AFileIsNoStore) {
  const TempFolder folder;
  WriteFile(folder.path() + "/file", "x");
  EXPECT_EQ(Store::Open(folder.path() + "/file").status().code(), Code::kNotFound);
}

TEST(Open, APipeInPlaceOfTheManifestDoesNotHang) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() + "/manifest").c_str(), 0600), 0);
  EXPECT_EQ(Store::Open(folder.path()).status().code(), Code::kCorrupt);
}

TEST(Open, AMissingIndexIsCorrupt) {
  const TempFolder folder;
  SmallStore().Write(folder.path());
  std::filesystem::remove(folder.path() + "/index-00000001");
  const Status status = Store::Open(folder.path()).status();
  EXPECT_EQ(status.code(), Code::kCorrupt);
  EXPECT_THAT(status.text(), HasSubstr("index-00000001: missing"));
}

TEST(Open, HoldsASharedLockUntilItIsDestroyed) {
  const TempFolder folder;
  SmallStore().Write(folder.path());
  Result<std::shared_ptr<const Store>> store = Store::Open(folder.path());
  ASSERT_TRUE(store.ok());
  Result<std::shared_ptr<const Store>> second = Store::Open(folder.path());
  ASSERT_TRUE(second.ok());
  const UniqueFd collector(::open((folder.path() + "/index-00000001").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_NE(::flock(collector.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(errno, EWOULDBLOCK);
  store->reset();
  EXPECT_NE(::flock(collector.get(), LOCK_EX | LOCK_NB), 0);
  second->reset();
  EXPECT_EQ(::flock(collector.get(), LOCK_EX | LOCK_NB), 0);
}

TEST(Open, AnIndexThatStaysLockedByACollectorIsBusy) {
  const TempFolder folder;
  SmallStore().Write(folder.path());
  const UniqueFd collector(::open((folder.path() + "/index-00000001").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(collector.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(Store::Open(folder.path()).status().code(), Code::kBusy);
}

TEST(Open, GenerationsCanBeChosen) {
  const TempFolder folder;
  SmallStore().Write(folder.path());
  TestStore second = WideStore(4);
  second.generation = 2;
  second.Write(folder.path());
  EXPECT_EQ((*Store::Open(folder.path()))->summary().entry_count, 5U);
  EXPECT_EQ((*Store::Open(folder.path()))->summary().generation, 2U);
  const Result<std::shared_ptr<const Store>> first = Store::Open(folder.path(), {.generation = 1});
  ASSERT_TRUE(first.ok()) << first.status().text();
  EXPECT_EQ((*first)->summary().entry_count, kSmallCount);
  EXPECT_EQ((*first)->summary().writer, "");
  const Status above = Store::Open(folder.path(), {.generation = 3}).status();
  EXPECT_EQ(above.code(), Code::kNotFound);
  EXPECT_THAT(above.text(), HasSubstr("there is no generation 3"));
  std::filesystem::remove(folder.path() + "/index-00000001");
  const Status removed = Store::Open(folder.path(), {.generation = 1}).status();
  EXPECT_EQ(removed.code(), Code::kNotFound);
  EXPECT_THAT(removed.text(), HasSubstr("generation 1 has been removed"));
}

TEST(Open, AnOpenStoreKeepsItsGeneration) {
  const TempFolder folder;
  SmallStore().Write(folder.path());
  const Result<std::shared_ptr<const Store>> store = Store::Open(folder.path());
  ASSERT_TRUE(store.ok());
  TestStore second = WideStore(4);
  second.generation = 2;
  second.Write(folder.path());
  std::filesystem::remove(folder.path() + "/index-00000001");
  EXPECT_TRUE((*store)->Find("a/one.jpg").ok());
}

// Readers open while generation after generation replaces the one before, which is removed at once.
TEST(Open, ReadsTheManifestAgainWhenItsIndexIsRemoved) {
  const TempFolder folder;
  WideStore(4).Write(folder.path());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (uint64_t generation = 2; generation <= 200; ++generation) {
      const TempFolder made;
      TestStore next = WideStore(4);
      next.generation = generation;
      next.Write(made.path());
      char name[16];
      std::snprintf(name, sizeof(name), "index-%08u", static_cast<unsigned>(generation));
      WriteFile(folder.path() + "/" + name, ReadFile(made.path() + "/" + name));
      WriteFile(folder.path() + "/new", ReadFile(made.path() + "/manifest"));
      std::filesystem::rename(folder.path() + "/new", folder.path() + "/manifest");
      std::snprintf(name, sizeof(name), "index-%08u", static_cast<unsigned>(generation - 1));
      std::filesystem::remove(folder.path() + "/" + name);
    }
    done = true;
  });
  uint64_t last = 0;
  while (!done) {
    const Result<std::shared_ptr<const Store>> store = Store::Open(folder.path());
    EXPECT_TRUE(store.ok()) << store.status().text();
    if (!store.ok()) break;
    EXPECT_GE((*store)->summary().generation, last);
    last = (*store)->summary().generation;
  }
  writer.join();
}

TEST(Open, RelativePathsSurviveAChangeOfFolder) {
  const TempFolder folder;
  SmallStore().Write(folder.path());
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const Result<std::shared_ptr<const Store>> store = Store::Open(".");
  std::filesystem::current_path(before);
  ASSERT_TRUE(store.ok()) << store.status().text();
  const Result<Entry> one = (*store)->Find("a/one.jpg");
  std::string bytes(3000, '\0');
  EXPECT_TRUE((*store)->Read(*one, 0, std::as_writable_bytes(std::span(bytes))).ok());
  EXPECT_EQ(bytes, OneBytes());
}

}  // namespace
}  // namespace augur
