// SPDX-License-Identifier: Apache-2.0
#include "fs/tree_changes.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "unit/fs/store_fixture.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr Attributes kFile = {.mode = 0644, .mtime_sec = 7};

class TreeChangesTest : public StoreFixture {
 protected:
  // The next generation: what `fill` adds to the tree, or, with `anew`, all of it.
  template <typename Fill>
  void WriteNext(bool anew, const Fill& fill) {
    auto writer = StoreWriter::Begin(
        store_path(), {.mode = anew ? WriteMode::kReplace : WriteMode::kAppend, .on_duplicate = OnDuplicate::kLast});
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    fill(**writer);
    const auto summary = (*writer)->Commit();
    ASSERT_TRUE(summary.ok()) << summary.status().text();
  }

  static void FillFirst(StoreWriter& writer) {
    ASSERT_TRUE(writer.AddDirectory("d", {.mode = 0755, .mtime_sec = 1}).ok());
    for (const char* name : {"d/a", "d/b", "d/c"}) ASSERT_TRUE(writer.AddFile(name, kFile, {}, AsBytes(name)).ok());
    ASSERT_TRUE(writer.AddDirectory("e", {.mode = 0755, .mtime_sec = 1}).ok());
    ASSERT_TRUE(writer.AddFile("e/f", kFile, {}, AsBytes("f")).ok());
    ASSERT_TRUE(writer.AddSymlink("link", {.mode = 0777}, "d/a").ok());
  }

  std::shared_ptr<const Store> Generation(uint64_t number) {
    const auto store = Store::Open(store_path(), {.generation = number});
    EXPECT_TRUE(store.ok()) << store.status().text();
    return store.ok() ? *store : nullptr;
  }

  // The paths of what is kept, and of the folders that changed.
  struct Paths {
    std::vector<std::string> kept;
    std::vector<std::string> folders;
  };
  Paths Compare(uint64_t before, uint64_t after) {
    const auto old = Generation(before);
    const auto now = Generation(after);
    const auto changes = TreeComparison(*old, *now).Run(1000);
    EXPECT_TRUE(changes.ok()) << changes.status().text();
    Paths paths;
    if (!changes.ok()) return paths;
    for (const KeptRun& run : changes->kept) {
      for (uint64_t i = 0; i < run.count; ++i) {
        paths.kept.push_back(*old->PathOf(run.before + i));
        EXPECT_EQ(paths.kept.back(), *now->PathOf(run.after + i));
      }
    }
    for (const FolderPair& folder : changes->folders) paths.folders.push_back(*now->PathOf(folder.after));
    return paths;
  }
};

TEST_F(TreeChangesTest, AnAppendChangesTheFoldersThatItAddsTo) {
  Write(FillFirst);
  WriteNext(/*anew=*/false, [](StoreWriter& writer) {
    ASSERT_TRUE(writer.AddFile("d/aa", kFile, {}, AsBytes("new")).ok());
    ASSERT_TRUE(writer.AddFile("d/b", kFile, {}, AsBytes("other bytes")).ok());
    ASSERT_TRUE(writer.AddDirectory("g", {.mode = 0755, .mtime_sec = 1}).ok());
    ASSERT_TRUE(writer.AddSymlink("link", {.mode = 0777}, "d/b").ok());
  });
  const Paths paths = Compare(1, 2);
  EXPECT_THAT(paths.kept, UnorderedElementsAre("", "d", "d/a", "d/c", "e", "e/f"));
  EXPECT_THAT(paths.folders, UnorderedElementsAre("", "d"));
  const Paths back = Compare(2, 1);
  EXPECT_THAT(back.kept, UnorderedElementsAre("", "d", "d/a", "d/c", "e", "e/f"));
  EXPECT_THAT(back.folders, UnorderedElementsAre("", "d"));
}

// Promise: the same bytes are kept where only the attributes differ; the folder is one that changed.
TEST_F(TreeChangesTest, OtherAttributesAreNoOtherBytes) {
  Write(FillFirst);
  WriteNext(/*anew=*/false, [](StoreWriter& writer) {
    ASSERT_TRUE(writer.AddFile("d/b", {.mode = 0600, .mtime_sec = 9}, {}, AsBytes("d/b")).ok());
    ASSERT_TRUE(writer.AddDirectory("e", {.mode = 0700, .mtime_sec = 1}).ok());
  });
  const Paths paths = Compare(1, 2);
  EXPECT_THAT(paths.kept, UnorderedElementsAre("", "d", "d/a", "d/b", "d/c", "e", "e/f", "link"));
  EXPECT_THAT(paths.folders, testing::AllOf(testing::Contains("d"), testing::Contains("e")));
}

// Promise: a store that was packed anew is compared by the digests of its records: its shards are others.
TEST_F(TreeChangesTest, AStoreThatWasPackedAnew) {
  Write(FillFirst);
  WriteNext(/*anew=*/true, [](StoreWriter& writer) {
    ASSERT_TRUE(writer.AddDirectory("d", {.mode = 0755, .mtime_sec = 1}).ok());
    // In the place, and of the size, of the record that was "d/a".
    ASSERT_TRUE(writer.AddFile("d/a", kFile, {}, AsBytes("x/x")).ok());
    ASSERT_TRUE(writer.AddFile("d/c", kFile, {}, AsBytes("d/c")).ok());
    ASSERT_TRUE(writer.AddFile("e", kFile, {}, AsBytes("no folder any more")).ok());
  });
  const Paths paths = Compare(1, 2);
  EXPECT_THAT(paths.kept, UnorderedElementsAre("", "d", "d/c"));
  EXPECT_THAT(paths.folders, UnorderedElementsAre("", "d"));
}

TEST_F(TreeChangesTest, OneGenerationIsTheSameAsItself) {
  Write(FillFirst);
  const auto store = Generation(1);
  const auto changes = TreeComparison(*store, *store).Run(1000);
  ASSERT_TRUE(changes.ok());
  EXPECT_THAT(changes->folders, IsEmpty());
  uint64_t kept = 0;
  for (const KeptRun& run : changes->kept) kept += run.count;
  EXPECT_EQ(kept, store->summary().entry_count);
}

TEST_F(TreeChangesTest, TooManyPiecesAreRefused) {
  Write(FillFirst);
  WriteNext(/*anew=*/false, [](StoreWriter& writer) {
    for (const char* name : {"d/aa", "d/bb", "d/cc"}) ASSERT_TRUE(writer.AddFile(name, kFile, {}, AsBytes(name)).ok());
  });
  const auto before = Generation(1);
  const auto after = Generation(2);
  EXPECT_EQ(TreeComparison(*before, *after).Run(3).status().code(), Code::kNoSpace);
}

TEST_F(TreeChangesTest, ChildrenComeInTheOrderOfTheirNames) {
  Write(FillFirst);
  WriteNext(/*anew=*/false, [](StoreWriter& writer) {
    ASSERT_TRUE(writer.AddFile("d/aa", kFile, {}, AsBytes("new")).ok());
    ASSERT_TRUE(writer.AddFile("d/b", kFile, {}, AsBytes("other bytes")).ok());
  });
  const auto before = Generation(1);
  const auto after = Generation(2);
  std::vector<std::string> seen;
  const Status status = TreeComparison(*before, *after)
                            .ForEachChild(*before->Find("d"), *after->Find("d"),
                                          [&](const Entry* one, const Entry* other, ChildChange change) {
                                            seen.push_back((one != nullptr ? std::string(one->name) : "-") + " " +
                                                           (other != nullptr ? std::string(other->name) : "-") +
                                                           (change == ChildChange::kSame ? " same" : " other"));
                                            return Status::Ok();
                                          });
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_THAT(seen, ElementsAre("a a same", "- aa other", "b b other", "c c same"));
}

}  // namespace
}  // namespace augur
