// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "base/text_file.h"
#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(StoreWriterTest, CreateRefusesAStoreThatIsThere) {
  Create({{"a", "old"}});
  const Status status = BeginStatus();
  EXPECT_EQ(status.code(), Code::kExists);
  EXPECT_THAT(status.text(), HasSubstr(store_ + ": there is a store already"));
  EXPECT_EQ(ReadFile("a"), "old");
}

TEST_F(StoreWriterTest, ReplaceWritesAFurtherGenerationAndKeepsTheOld) {
  Create({{"a", "old"}, {"b", "old b"}});
  const auto old = *Store::Open(store_);
  Create({{"a", "new"}}, {.mode = WriteMode::kReplace});
  EXPECT_EQ(ReadFile("a"), "new");
  EXPECT_THAT(ReadFile("b"), HasSubstr("failed"));
  EXPECT_EQ(ReadFile(*old, "b"), "old b");
  EXPECT_EQ((*Store::Open(store_))->summary().generation, 2u);
  EXPECT_EQ(Defects(), "");
  EXPECT_THAT(Files(), ElementsAre("index-00000001", "index-00000002", "shard-00000001-00000", "shard-00000002-00000"));
}

TEST_F(StoreWriterTest, AnAppendThatIsStoppedWhileItReadsTheOldTreeLeavesNothing) {
  Create({{"a", "old"}, {"b", "old b"}});
  const Status status =
      StoreWriter::Begin(store_, {.mode = WriteMode::kAppend, .stopped = [] { return true; }}).status();
  EXPECT_EQ(status.code(), Code::kStopped);
  EXPECT_THAT(Files(), ElementsAre("index-00000001", "shard-00000001-00000"));
  EXPECT_EQ(Defects(), "");
}

TEST_F(StoreWriterTest, TheEndOfARunSaysWhetherSomethingIsLeft) {
  auto writer = Begin({});
  EXPECT_FALSE(writer->End());
  EXPECT_FALSE(std::filesystem::exists(store_));
  writer = Begin({});
  ASSERT_TRUE(writer->AddFile("a", {}, {}, std::as_bytes(std::span("bytes"))).ok());
  EXPECT_TRUE(writer->End());
  writer.reset();
  const Result<bool> resumed = Begin({.resume = true})->Resume("a", {}, sizeof("bytes"));
  EXPECT_TRUE(resumed.ok() && *resumed);
}

TEST_F(StoreWriterTest, ReplaceMakesAStoreWhereThereIsNone) {
  Create({{"a", "new"}}, {.mode = WriteMode::kReplace});
  EXPECT_EQ(ReadFile("a"), "new");
}

TEST_F(StoreWriterTest, ShardsNameTheGenerationThatTheyAddTo) {
  const auto base_of = [this](const char* shard) {
    std::string header(64, '\0');
    std::ifstream(store_ + "/" + shard, std::ios::binary).read(header.data(), 64);
    uint64_t base = 0;
    std::memcpy(&base, header.data() + 24, sizeof(base));  // FORMAT.md section 6
    return base;
  };
  const auto add_folder = [this](WriteMode mode, const char* path) {
    const auto writer = Begin({.mode = mode});
    ASSERT_TRUE(writer->AddDirectory(path, {}).ok());
    ASSERT_TRUE(writer->Commit().ok());
  };
  Create({{"a", "1"}});
  Create({{"b", "2"}}, {.mode = WriteMode::kAppend});
  add_folder(WriteMode::kAppend, "d");  // has no shard, so nothing can be added to its shards
  Create({{"c", "4"}}, {.mode = WriteMode::kAppend});
  EXPECT_EQ(Defects(), "");
  Create({{"e", "5"}}, {.mode = WriteMode::kReplace});
  Create({{"f", "6"}}, {.mode = WriteMode::kAppend});
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(base_of("shard-00000001-00000"), 0u);
  EXPECT_EQ(base_of("shard-00000002-00001"), 1u);
  EXPECT_EQ(base_of("shard-00000004-00002"), 2u);
  EXPECT_EQ(base_of("shard-00000005-00000"), 0u);
  EXPECT_EQ(base_of("shard-00000006-00001"), 5u);
  add_folder(WriteMode::kReplace, "d");  // its shard tells that the other files are gone
  EXPECT_EQ(base_of("shard-00000007-00000"), 0u);
  EXPECT_EQ((*Store::Open(store_))->summary().shard_count, 1u);
  EXPECT_EQ(Defects(), "");
}

TEST_F(StoreWriterTest, AppendNeedsAStore) {
  EXPECT_EQ(BeginStatus({.mode = WriteMode::kAppend}).code(), Code::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(store_));
  std::filesystem::create_directory(store_);
  EXPECT_EQ(BeginStatus({.mode = WriteMode::kAppend}).code(), Code::kNotFound);
  EXPECT_TRUE(std::filesystem::is_empty(store_));
}

TEST_F(StoreWriterTest, AppendKeepsTheOldTreeAndItsShardNumbers) {
  const std::string large(2'500'000, 'l');
  {
    const auto writer = Begin();
    ASSERT_TRUE(writer->AddDirectory("d", {.mode = 0711, .mtime_sec = 50, .mtime_nsec = 0}).ok());
    ASSERT_TRUE(writer->AddSymlink("d/link", {}, "target").ok());
    ASSERT_TRUE(AddText(*writer, "d/large", large).ok());
    ASSERT_TRUE(AddText(*writer, "empty", "").ok());
    ASSERT_TRUE(writer->Commit().ok());
  }
  Create({{"d/new", "new"}, {"e/f/g", "deep"}}, {.mode = WriteMode::kAppend});
  EXPECT_EQ(Defects(), "");
  const auto store = *Store::Open(store_);
  EXPECT_EQ(store->summary().generation, 2u);
  EXPECT_EQ(store->summary().file_count, 4u);
  EXPECT_EQ(store->Find("d")->mode, 0040711u);
  EXPECT_EQ(store->Find("d")->mtime_sec, 50);
  EXPECT_EQ(*store->LinkTarget(*store->Find("d/link")), "target");
  EXPECT_EQ(ReadFile(*store, "d/large"), large);
  EXPECT_EQ(ReadFile(*store, "d/new"), "new");
  EXPECT_EQ(ReadFile(*store, "e/f/g"), "deep");
  EXPECT_EQ(store->Find("d/large")->shard, 0u);
  EXPECT_EQ(store->Find("d/new")->shard, 1u);
  EXPECT_EQ(store->Shard(0)->generation, 1u);
  EXPECT_EQ(store->Shard(1)->generation, 2u);
  EXPECT_EQ(store->Shard(1)->locator, "shard-00000002-00001");
}

TEST_F(StoreWriterTest, AppendRefusesANameThatIsThere) {
  Create({{"d/a", "old"}, {"f", "file"}});
  const auto writer = Begin({.mode = WriteMode::kAppend});
  const Status status = AddText(*writer, "d/a", "new");
  EXPECT_EQ(status.code(), Code::kExists);
  EXPECT_THAT(status.text(), HasSubstr("'d/a' is in the store already"));
  EXPECT_EQ(writer->BeginFile("d/a").code(), Code::kExists);
  EXPECT_EQ(writer->AddSymlink("d/a", {}, "x").code(), Code::kExists);
  EXPECT_EQ(writer->AddHardLink("d/a", "f").code(), Code::kExists);
  EXPECT_EQ(AddText(*writer, "d", "a folder").code(), Code::kExists);
  EXPECT_EQ(writer->AddDirectory("f", {}).code(), Code::kExists);
  EXPECT_TRUE(writer->AddDirectory("d", {.mode = 0700, .mtime_sec = 1, .mtime_nsec = 0}).ok()) << "folders join";
  ASSERT_TRUE(AddText(*writer, "d/b", "b").ok()) << "refusals change nothing";
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(ReadFile("d/a"), "old");
  EXPECT_EQ(ReadFile("d/b"), "b");
  EXPECT_EQ((*Store::Open(store_))->Find("d")->mode, 0040700u);
  EXPECT_EQ(Defects(), "");
}

TEST_F(StoreWriterTest, OfAFileBelowAFileBothAreNamed) {
  Create({{"a", "file"}});
  const auto writer = Begin({.mode = WriteMode::kAppend});
  ASSERT_TRUE(AddText(*writer, "a/b", "below").ok());
  const auto summary = writer->Commit();
  EXPECT_EQ(summary.status().code(), Code::kExists);
  EXPECT_THAT(summary.status().text(), HasSubstr("'a' is a file (in the store already)"));
  EXPECT_THAT(summary.status().text(), HasSubstr("'a/b' (among what was added)"));
}

TEST_F(StoreWriterTest, AppendWithLastReplacesAndWithFirstKeeps) {
  Create({{"a", "one"}, {"b", "one"}});
  Create({{"a", "two"}}, {.mode = WriteMode::kAppend, .on_duplicate = OnDuplicate::kLast});
  EXPECT_EQ(ReadFile("a"), "two");
  EXPECT_EQ(ReadFile("b"), "one");
  Create({{"a", "three"}, {"c", "three"}}, {.mode = WriteMode::kAppend, .on_duplicate = OnDuplicate::kFirst});
  EXPECT_EQ(ReadFile("a"), "two");
  EXPECT_EQ(ReadFile("c"), "three");
  EXPECT_EQ(Defects(), "");
}

TEST_F(StoreWriterTest, ASecondWriterIsToldWhoHoldsTheStore) {
  const auto writer = Begin({.writer = "packer 7.0"});
  const Status status = BeginStatus();
  EXPECT_EQ(status.code(), Code::kBusy);
  EXPECT_THAT(status.text(), HasSubstr("packer 7.0, process " + std::to_string(::getpid()) + " on host "));
  EXPECT_EQ(RemoveOldGenerations(store_).status().code(), Code::kNotFound) << "there is no store yet";
}

TEST_F(StoreWriterTest, AFolderOfOthersIsRefusedAndLeftAlone) {
  std::filesystem::create_directory(store_);
  WriteText(store_ + "/photo.jpg", "mine");
  const Status status = BeginStatus();
  EXPECT_EQ(status.code(), Code::kInvalid);
  EXPECT_THAT(status.text(), HasSubstr("holds other files ('photo.jpg') and no store"));
  EXPECT_EQ(BeginStatus({.mode = WriteMode::kReplace}).code(), Code::kInvalid);
  EXPECT_THAT(Files(), ElementsAre("photo.jpg"));

  std::filesystem::remove(store_ + "/photo.jpg");
  WriteText(store_ + "/shard-00000001-00000", "a name like ours, but no lock of ours");
  EXPECT_EQ(BeginStatus().code(), Code::kInvalid);
  EXPECT_THAT(Files(), ElementsAre("shard-00000001-00000"));
}

// A writer that was killed at once leaves a lock without text. Any other text is somebody's.
TEST_F(StoreWriterTest, ALockOfOthersIsRefusedAndLeftAlone) {
  std::filesystem::create_directory(store_);
  for (const std::string text : {"mine", "mine, process 7 on host a since b\nand more\n", " since "}) {
    WriteText(store_ + "/lock", text);
    for (const WriteMode mode : {WriteMode::kCreate, WriteMode::kReplace}) {
      const Status status = BeginStatus({.mode = mode});
      EXPECT_EQ(status.code(), Code::kInvalid);
      EXPECT_THAT(status.text(), HasSubstr("holds other files ('lock') and no store: give a folder"));
    }
    const Result<std::string> left = ReadTextFile(store_ + "/lock");
    EXPECT_TRUE(left.ok() && *left == text);
  }
  for (const std::string text : {"", "packer 7.0, process 7 on host a since 2026-01-01T00:00:00Z\n"}) {
    WriteText(store_ + "/lock", text);
    EXPECT_EQ(BeginStatus().code(), Code::kOk) << text;
  }
}

TEST_F(StoreWriterTest, FilesOfOthersInAStoreAreLeftAlone) {
  Create({{"a", "old"}});
  const std::vector<std::string> names = {
      "README", "index-3", "shard-00000002-0", "shard-00000002-00000.bak", "index-00000002.old", "shard-2-00000"};
  for (const std::string& name : names) WriteText(store_ + "/" + name, "mine");
  Create({{"a", "new"}}, {.mode = WriteMode::kReplace});
  ASSERT_TRUE(RemoveOldGenerations(store_).ok());
  for (const std::string& name : names) EXPECT_TRUE(std::filesystem::exists(store_ + "/" + name)) << name;
  EXPECT_EQ(ReadFile("a"), "new");
}

TEST_F(StoreWriterTest, AFileIsNoStore) {
  WriteText(store_, "text");
  const Status status = BeginStatus();
  EXPECT_EQ(status.code(), Code::kInvalid);
  EXPECT_THAT(status.text(), HasSubstr("not a folder"));
  store_ += "/below";
  EXPECT_EQ(BeginStatus().code(), Code::kNotFound);
}

TEST_F(StoreWriterTest, WhatWasNotBegunLeavesNothing) {
  { const auto writer = Begin(); }
  EXPECT_FALSE(std::filesystem::exists(store_));
  std::filesystem::create_directory(store_);
  {
    const auto writer = Begin();
    EXPECT_EQ(AddText(*writer, "../x", "").code(), Code::kInvalid);
  }
  EXPECT_TRUE(std::filesystem::is_empty(store_));
}

TEST_F(StoreWriterTest, AStoreWithoutBytesHasNoShard) {
  const auto writer = Begin();
  ASSERT_TRUE(writer->AddDirectory("d", {}).ok());
  ASSERT_TRUE(AddText(*writer, "e", "").ok());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_THAT(Files(), ElementsAre("index-00000001"));
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ((*Store::Open(store_))->summary().shard_count, 0u);
}

TEST_F(StoreWriterTest, AnEmptyTreeIsAStore) {
  const auto writer = Begin();
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ((*Store::Open(store_))->summary().entry_count, 1u);
}

TEST_F(StoreWriterTest, BadInputIsRefusedAndTheWriterGoesOn) {
  const auto writer = Begin();
  const std::vector<std::string> bad = {"/a",
                                        "a/",
                                        "a//b",
                                        ".",
                                        "..",
                                        "a/.",
                                        "../a",
                                        std::string("a\0b", 3),
                                        std::string(256, 'n'),
                                        "a/" + std::string(256, 'n')};
  for (const std::string& path : bad) {
    EXPECT_EQ(AddText(*writer, path, "x").code(), Code::kInvalid) << path;
    EXPECT_EQ(writer->AddDirectory(path, {}).code(), Code::kInvalid) << path;
    EXPECT_EQ(writer->BeginFile(path).code(), Code::kInvalid) << path;
  }
  std::string long_path = "d";
  while (long_path.size() + 2 <= 4095) long_path += "/d";
  ASSERT_EQ(long_path.size(), 4095u);
  EXPECT_TRUE(AddText(*writer, long_path, "deep").ok());
  EXPECT_EQ(AddText(*writer, long_path + "e", "x").code(), Code::kInvalid);
  EXPECT_EQ(AddText(*writer, "", "the root").code(), Code::kInvalid);
  EXPECT_EQ(writer->AddSymlink("l", {}, "").code(), Code::kInvalid);
  EXPECT_EQ(writer->AddSymlink("l", {}, std::string(4096, 't')).code(), Code::kInvalid);
  EXPECT_EQ(writer->AddSymlink("l", {}, std::string("a\0b", 3)).code(), Code::kInvalid);
  EXPECT_TRUE(writer->AddSymlink("l", {}, std::string(4095, 't')).ok());
  EXPECT_EQ(writer->AddFile("i", {}, {.width = 1}, Bytes("x")).code(), Code::kInvalid);
  EXPECT_EQ(writer->AddFile("i", {.mode = 0, .mtime_sec = 0, .mtime_nsec = 1'000'000'000}, {}, Bytes("x")).code(),
            Code::kInvalid);
  EXPECT_TRUE(AddText(*writer, std::string(255, 'n'), "x").ok());
  EXPECT_TRUE(AddText(*writer, "\xff\x01 \n", "raw bytes").ok());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(ReadFile(long_path), "deep");
  EXPECT_EQ(ReadFile("\xff\x01 \n"), "raw bytes");
  EXPECT_EQ(Defects(), "");
}

// Runs `body` in a child that can write nowhere as the superuser; true when it returned true.
template <typename Body>
bool InUnprivilegedChild(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setegid(65534) != 0 || ::seteuid(65534) != 0)) ::_exit(2);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(StoreWriterTest, AFolderThatMayNotBeWrittenIsAPermissionError) {
  std::filesystem::create_directory(store_);
  ::chmod(folder_.c_str(), 0755);
  ::chmod(store_.c_str(), 0555);
  EXPECT_TRUE(InUnprivilegedChild([&] { return BeginStatus().code() == Code::kPermission; }));
  std::filesystem::remove(store_);
  ::chmod(folder_.c_str(), 0555);
  EXPECT_TRUE(InUnprivilegedChild([&] { return BeginStatus().code() == Code::kPermission; }));
  ::chmod(folder_.c_str(), 0755);
}

}  // namespace
}  // namespace augur
