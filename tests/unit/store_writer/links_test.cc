// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

using testing::HasSubstr;

TEST_F(StoreWriterTest, HardLinksBecomeTheFilesThatTheyName) {
  const auto writer = Begin();
  ASSERT_TRUE(writer->AddHardLink("before", "dir/file").ok());
  ASSERT_TRUE(AddText(*writer, "dir/file", "bytes").ok());
  ASSERT_TRUE(writer->AddHardLink("dir/second", "before").ok()) << "a link to a link";
  ASSERT_TRUE(writer->AddSymlink("soft", {.mode = 0777, .mtime_sec = 4, .mtime_nsec = 0}, "dir/file").ok());
  ASSERT_TRUE(writer->AddHardLink("soft2", "soft").ok());
  ASSERT_TRUE(writer->AddHardLink("none", "empty").ok());
  ASSERT_TRUE(AddText(*writer, "empty", "").ok());
  const auto summary = writer->Commit();
  ASSERT_TRUE(summary.ok()) << summary.status().text();
  EXPECT_EQ(summary->file_count, 5u);
  EXPECT_EQ(summary->symlink_count, 2u);
  EXPECT_EQ(summary->stored_bytes, 5u);
  EXPECT_EQ(Defects(), "");
  const auto store = *Store::Open(store_);
  EXPECT_EQ(ReadFile(*store, "before"), "bytes");
  EXPECT_EQ(ReadFile(*store, "dir/second"), "bytes");
  EXPECT_EQ(store->Find("before")->mtime_sec, 1000);
  EXPECT_EQ(store->Find("before")->mode, 0100644u);
  EXPECT_EQ(*store->LinkTarget(*store->Find("soft2")), "dir/file");
  EXPECT_EQ(ReadFile(*store, "none"), "");
}

TEST_F(StoreWriterTest, AHardLinkIsWhatItsTargetWasWhenItWasAdded) {
  const auto writer = Begin({.on_duplicate = OnDuplicate::kLast});
  ASSERT_TRUE(AddText(*writer, "a", "one").ok());
  ASSERT_TRUE(writer->AddHardLink("of one", "a").ok());
  ASSERT_TRUE(AddText(*writer, "a", "two").ok());
  ASSERT_TRUE(writer->AddHardLink("of two", "a").ok());
  ASSERT_TRUE(writer->AddHardLink("a", "of one").ok());
  ASSERT_TRUE(writer->AddHardLink("of the link", "a").ok());
  ASSERT_TRUE(writer->AddHardLink("a", "a").ok());
  ASSERT_TRUE(AddText(*writer, "of one", "three").ok());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(ReadFile("of one"), "three");
  EXPECT_EQ(ReadFile("of two"), "two");
  EXPECT_EQ(ReadFile("a"), "one");
  EXPECT_EQ(ReadFile("of the link"), "one");
}

TEST_F(StoreWriterTest, AHardLinkToItselfIsNoDuplicate) {
  const auto writer = Begin();
  ASSERT_TRUE(AddText(*writer, "a", "one").ok());
  ASSERT_TRUE(writer->AddHardLink("a", "a").ok());
  ASSERT_TRUE(writer->AddHardLink("a", "a").ok());
  const auto summary = writer->Commit();
  ASSERT_TRUE(summary.ok()) << summary.status().text();
  EXPECT_EQ(summary->file_count, 1u);
  EXPECT_EQ(ReadFile("a"), "one");
  EXPECT_EQ(Defects(), "");
}

TEST_F(StoreWriterTest, AHardLinkToItselfAloneIsRefused) {
  const auto writer = Begin();
  ASSERT_TRUE(writer->AddHardLink("a", "a").ok());
  const Status status = writer->Commit().status();
  EXPECT_EQ(status.code(), Code::kInvalid);
  EXPECT_THAT(status.text(), HasSubstr("is a hard link to itself"));
}

TEST_F(StoreWriterTest, AnAppendedHardLinkMayNameAnOldFile) {
  Create({{"a", "old"}});
  const auto writer = Begin({.mode = WriteMode::kAppend});
  ASSERT_TRUE(writer->AddHardLink("b", "a").ok());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(ReadFile("b"), "old");
  EXPECT_EQ(Defects(), "");
}

TEST_F(StoreWriterTest, HardLinksThatLeadNowhereAreNamed) {
  const auto writer = Begin();
  ASSERT_TRUE(AddText(*writer, "d/a", "x").ok());
  ASSERT_TRUE(writer->AddHardLink("link", "missing").ok());
  Status status = writer->Commit().status();
  EXPECT_EQ(status.code(), Code::kInvalid);
  EXPECT_THAT(status.text(), HasSubstr("'link' is a hard link to 'missing', which is not in the tree"));
  ASSERT_TRUE(AddText(*writer, "missing", "found").ok()) << "the writer goes on after a refusal";
  ASSERT_TRUE(writer->AddHardLink("to folder", "d").ok());
  status = writer->Commit().status();
  EXPECT_EQ(status.code(), Code::kInvalid);
  EXPECT_THAT(status.text(), HasSubstr("'to folder' is a hard link to the folder 'd'"));
}

TEST_F(StoreWriterTest, HardLinksInACircleAreRefused) {
  const auto writer = Begin();
  ASSERT_TRUE(writer->AddHardLink("a", "b").ok());
  ASSERT_TRUE(writer->AddHardLink("b", "a").ok());
  const Status status = writer->Commit().status();
  EXPECT_EQ(status.code(), Code::kInvalid);
  EXPECT_THAT(status.text(), HasSubstr("in a circle"));
}

TEST_F(StoreWriterTest, APathThatComesTwiceIsRefusedByDefault) {
  const auto writer = Begin();
  ASSERT_TRUE(AddText(*writer, "d/a", "one").ok());
  ASSERT_TRUE(AddText(*writer, "d/a", "two").ok());
  const Status status = writer->Commit().status();
  EXPECT_EQ(status.code(), Code::kExists);
  EXPECT_THAT(status.text(), HasSubstr("'d/a' comes twice"));
}

TEST_F(StoreWriterTest, APathThatComesTwiceNamesTheTwoTars) {
  const auto writer = Begin();
  const Hash128 hash{1, 2};
  const uint32_t one = *writer->AddForeignShard("one.tar", 1000, 0, 0);
  const uint32_t two = *writer->AddForeignShard("/data/two.tar", 1000, 0, 0);
  ASSERT_TRUE(writer->AddForeignFile("a", {}, {}, one, 0, 10, hash, {}).ok());
  ASSERT_TRUE(writer->AddForeignFile("a", {}, {}, two, 0, 10, hash, {}).ok());
  const Status status = writer->Commit().status();
  EXPECT_EQ(status.code(), Code::kExists);
  EXPECT_THAT(status.text(), HasSubstr("'a' comes twice: in " + store_ + "/one.tar, and in /data/two.tar"));
}

TEST_F(StoreWriterTest, APathThatComesTwiceNamesTheTwoTarsAlsoOfWhatHasNoBytes) {
  const auto add = [](StoreWriter& writer, const std::string& kind, uint32_t tar) {
    if (kind == "link") return writer.AddSymlink("a", {}, "target");
    if (kind == "hard link") return writer.AddHardLink("a", "b");
    return writer.AddForeignFile("a", {}, {}, tar, 0, 0, {}, {});
  };
  for (const std::string kind : {"link", "hard link", "empty file"}) {
    const auto writer = Begin();
    for (const char* name : {"one.tar", "two.tar"}) {
      const uint32_t tar = *writer->AddForeignShard(name, 1000, 0, 0);
      ASSERT_TRUE(writer->AddForeignFile(std::string("b") + name, {}, {}, tar, 0, 10, {1, 2}, {}).ok());
      ASSERT_TRUE(add(*writer, kind, tar).ok()) << kind;
    }
    EXPECT_THAT(writer->Commit().status().text(),
                HasSubstr("'a' comes twice: in " + store_ + "/one.tar, and in " + store_ + "/two.tar"))
        << kind;
  }
}

TEST_F(StoreWriterTest, FirstAndLastDecideWhichOfTwoCounts) {
  Create({{"a", "one"}, {"a", "two"}, {"a", "three"}}, {.on_duplicate = OnDuplicate::kLast});
  EXPECT_EQ(ReadFile("a"), "three");
  Create({{"a", "one"}, {"a", "two"}, {"a", "three"}},
         {.mode = WriteMode::kReplace, .on_duplicate = OnDuplicate::kFirst});
  EXPECT_EQ(ReadFile("a"), "one");
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ((*Store::Open(store_))->summary().record_bytes, 3u) << "what no file refers to is no record";
}

TEST_F(StoreWriterTest, AFileAndAFolderOfOneNameAreRefusedWhateverThePolicy) {
  for (const OnDuplicate policy : {OnDuplicate::kRefuse, OnDuplicate::kFirst, OnDuplicate::kLast}) {
    const auto writer = Begin({.on_duplicate = policy});
    ASSERT_TRUE(writer->AddDirectory("a", {}).ok());
    ASSERT_TRUE(AddText(*writer, "a", "file").ok());
    const Status status = writer->Commit().status();
    EXPECT_EQ(status.code(), Code::kExists);
    EXPECT_THAT(status.text(), HasSubstr("'a' is a file (among what was added) and also a folder"));
  }
}

TEST_F(StoreWriterTest, SymbolicLinksHaveNoFilesBelowThem) {
  const auto writer = Begin();
  ASSERT_TRUE(writer->AddSymlink("a", {}, "b").ok());
  ASSERT_TRUE(AddText(*writer, "a-", "sorts between the two by bytes, but not in path order").ok());
  ASSERT_TRUE(AddText(*writer, "a/b", "below").ok());
  EXPECT_EQ(writer->Commit().status().code(), Code::kExists);
}

TEST_F(StoreWriterTest, ForeignFilesReferToTheirShard) {
  const std::string tar(100'000, 't');
  WriteText(folder_ + "/images.tar", tar);
  const auto writer = Begin();
  const auto shard = writer->AddForeignShard("../images.tar", tar.size(), 77, 8);
  ASSERT_TRUE(shard.ok());
  const auto bytes = std::string(1000, 't');
  // From python: xxhash.xxh3_128(b't' * 1000).
  const Hash128 hash{.low = 0x0cb8958313773f63, .high = 0x9cea4ccb6bb7d68a};
  EXPECT_EQ(writer->AddForeignFile("a", {}, {}, 7, 0, 10, hash, {}).code(), Code::kInvalid);
  EXPECT_EQ(writer->AddForeignFile("a", {}, {}, *shard, 99'999, 2, hash, {}).code(), Code::kInvalid);
  EXPECT_EQ(writer->AddForeignFile("a", {}, {}, *shard, 0, 10, hash, {{hash}}).code(), Code::kInvalid);
  ASSERT_TRUE(writer->AddForeignFile("d/empty", {}, {}, *shard, 512, 0, hash, {}).ok());
  ASSERT_TRUE(writer->AddForeignFile("d/a", {}, {}, *shard, 512, 1000, hash, {}).ok());
  ASSERT_TRUE(writer->Commit().ok());
  const auto store = *Store::Open(store_);
  EXPECT_EQ(store->summary().shard_count, 1u) << "no own shard for what was only adopted";
  const ShardInfo info = *store->Shard(0);
  EXPECT_TRUE(info.foreign);
  EXPECT_FALSE(info.absolute);
  EXPECT_EQ(info.locator, "../images.tar");
  EXPECT_EQ(info.bytes, 100'000u);
  EXPECT_EQ(info.token_sec, 77);
  EXPECT_EQ(info.token_nsec, 8u);
  EXPECT_EQ(store->Find("d/a")->offset, 512u);
  EXPECT_EQ(store->Find("d/empty")->shard, kNoShard);
  EXPECT_EQ(ReadFile(*store, "d/a"), bytes);
  EXPECT_EQ(ReadFile(*store, "d/empty"), "");
  EXPECT_EQ(Defects().find("checksum"), std::string::npos);
}

}  // namespace
}  // namespace augur
