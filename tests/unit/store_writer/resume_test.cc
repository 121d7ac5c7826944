// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "store/hash.h"
#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

using testing::ElementsAre;

constexpr Attributes kFile{.mode = 0644, .mtime_sec = 1000, .mtime_nsec = 5};

class ResumeTest : public StoreWriterTest {
 protected:
  static std::string Name(int i) { return "d/" + std::to_string(1000 + i); }
  static std::string Text(int i) {
    return std::string(1'000'000 + static_cast<size_t>(i), static_cast<char>('a' + i % 26));
  }

  // A process that adds files 0 to `count` and dies.
  void WriteAndDie(int count, const WriterOptions& options) const {
    const pid_t child = ::fork();
    if (child == 0) {
      auto writer = StoreWriter::Begin(store_, options);
      if (!writer.ok()) ::_exit(1);
      for (int i = 0; i < count; ++i) {
        if (!AddText(**writer, Name(i), Text(i)).ok()) ::_exit(1);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }

  // Offers files 0 to `count` to a resuming writer and adds what it does not have.
  WriterSummary GoOn(int count, WriterOptions options) const {
    options.resume = true;
    const auto writer = Begin(options);
    for (int i = 0; i < count; ++i) {
      const auto resumed = writer->Resume(Name(i), kFile, Text(i).size());
      EXPECT_TRUE(resumed.ok()) << resumed.status().text();
      if (*resumed) continue;
      EXPECT_TRUE(AddText(*writer, Name(i), Text(i)).ok());
    }
    const auto summary = writer->Commit();
    EXPECT_TRUE(summary.ok()) << summary.status().text();
    return *summary;
  }

  void ExpectFiles(int count) const {
    EXPECT_EQ(Defects(), "");
    const auto store = *Store::Open(store_);
    EXPECT_EQ(store->summary().file_count, static_cast<uint64_t>(count));
    for (int i = 0; i < count; ++i) ASSERT_EQ(ReadFile(*store, Name(i)), Text(i)) << i;
  }
};

TEST_F(ResumeTest, GoesOnWhereAKilledWriterWas) {
  const WriterOptions options{.shard_bytes = 20'000'000};
  WriteAndDie(100, options);
  EXPECT_EQ(Store::Open(store_).status().code(), Code::kNotFound);
  const WriterSummary summary = GoOn(110, options);
  EXPECT_GE(summary.resumed_count, 80u) << "four shards were complete";
  EXPECT_LT(summary.resumed_count, 101u);
  EXPECT_EQ(summary.stored_bytes, summary.tree_bytes);
  ExpectFiles(110);
}

TEST_F(ResumeTest, AfterAnOrderlyEndNothingIsLost) {
  const WriterOptions options{.shard_bytes = 20'000'000};
  {
    const auto writer = Begin(options);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(AddText(*writer, Name(i), Text(i)).ok());
    ASSERT_TRUE(writer->BeginFile("half").ok());
    ASSERT_TRUE(writer->Write(Bytes(Text(7))).ok());
  }
  EXPECT_EQ(GoOn(50, options).resumed_count, 50u);
  ExpectFiles(50);
}

TEST_F(ResumeTest, WhatWasDiscardedIsGone) {
  const WriterOptions options{.shard_bytes = 20'000'000};
  for (const bool resume : {false, true}) {
    WriterOptions again = options;
    again.resume = resume;
    const auto writer = Begin(again);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(AddText(*writer, Name(i), Text(i)).ok());
    writer->Discard();
  }
  EXPECT_FALSE(std::filesystem::exists(store_));
  EXPECT_EQ(GoOn(50, options).resumed_count, 0u);
  ExpectFiles(50);
}

TEST_F(ResumeTest, CanBeKilledAgainAndAgain) {
  WriterOptions options{.shard_bytes = 30'000'000};
  for (int round = 1; round <= 4; ++round) {
    const auto writer = Begin(options);
    for (int i = 0; i < round * 10; ++i) {
      const auto resumed = writer->Resume(Name(i), kFile, Text(i).size());
      ASSERT_TRUE(resumed.ok());
      EXPECT_EQ(*resumed, i < (round - 1) * 10) << "round " << round << ", file " << i;
      if (*resumed) continue;
      ASSERT_TRUE(AddText(*writer, Name(i), Text(i)).ok());
    }
    options.resume = true;
  }
  EXPECT_EQ(GoOn(40, options).resumed_count, 40u);
  ExpectFiles(40);
}

TEST_F(ResumeTest, AChangedSourceIsStoredAnew) {
  {
    const auto writer = Begin();
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(AddText(*writer, Name(i), Text(i)).ok());
  }
  {
    const auto writer = Begin({.resume = true});
    EXPECT_TRUE(*writer->Resume(Name(0), kFile, Text(0).size()));
    EXPECT_FALSE(*writer->Resume(Name(1), {.mode = 0644, .mtime_sec = 1001, .mtime_nsec = 5}, Text(1).size()));
    EXPECT_FALSE(*writer->Resume(Name(2), kFile, 5));
    EXPECT_FALSE(*writer->Resume("d/1002a", kFile, 5));
    EXPECT_TRUE(*writer->Resume(Name(3), {.mode = 0600, .mtime_sec = 1000, .mtime_nsec = 5}, Text(3).size()));
    ASSERT_TRUE(AddText(*writer, Name(1), "changed").ok());
    ASSERT_TRUE(writer->Commit().ok());
  }
  EXPECT_EQ(Defects(), "");
  const auto store = *Store::Open(store_);
  EXPECT_EQ(ReadFile(*store, Name(0)), Text(0));
  EXPECT_EQ(ReadFile(*store, Name(1)), "changed");
  EXPECT_EQ(store->Find(Name(3))->mode, 0100600u) << "the mode is the source's";
}

TEST_F(ResumeTest, VersionsOfOnePathComeBackInTheirOrder) {
  const WriterOptions options{.on_duplicate = OnDuplicate::kLast};
  {
    const auto writer = Begin(options);
    for (const char* text : {"one", "two"}) ASSERT_TRUE(AddText(*writer, "a", text).ok());
  }
  WriterOptions again = options;
  again.resume = true;
  const auto writer = Begin(again);
  ASSERT_TRUE(*writer->Resume("a", kFile, 3));
  ASSERT_TRUE(writer->AddHardLink("of one", "a").ok());
  ASSERT_TRUE(*writer->Resume("a", kFile, 3));
  ASSERT_FALSE(*writer->Resume("a", kFile, 3)) << "it was stored twice";
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(ReadFile("of one"), "one");
  EXPECT_EQ(ReadFile("a"), "two");
  EXPECT_EQ(Defects(), "");
}

TEST_F(ResumeTest, SkipsWhatIsGoneFromTheSource) {
  const WriterOptions options{.shard_bytes = 10'000'000};  // a frame a shard at least
  {
    const auto writer = Begin(options);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(AddText(*writer, Name(i), Text(i)).ok());
  }
  const auto writer = Begin({.resume = true, .shard_bytes = 10'000'000});
  for (int i = 90; i < 100; ++i) EXPECT_TRUE(*writer->Resume(Name(i), kFile, Text(i).size())) << i;
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(Defects(), "");
}

TEST_F(ResumeTest, LargeFilesAndDuplicatesComeBackWithTheirBlocks) {
  const std::string large(5'000'000, 'L');
  {
    const auto writer = Begin();
    ASSERT_TRUE(AddText(*writer, "a", large).ok());
    ASSERT_TRUE(AddText(*writer, "b", large).ok());
    ASSERT_TRUE(AddText(*writer, "c", "").ok());
    ASSERT_TRUE(AddText(*writer, "e", "small").ok());
  }
  {
    const auto writer = Begin({.resume = true});
    for (const char* name : {"a", "b"}) ASSERT_TRUE(*writer->Resume(name, kFile, large.size()));
    ASSERT_TRUE(*writer->Resume("c", kFile, 0));
    ASSERT_TRUE(AddText(*writer, "d", large).ok());
    ASSERT_TRUE(*writer->Resume("e", kFile, 5));
    const auto summary = writer->Commit();
    ASSERT_TRUE(summary.ok());
    EXPECT_EQ(summary->resumed_count, 4u);
    EXPECT_EQ(summary->duplicate_count, 2u);
    EXPECT_EQ(summary->stored_bytes, 5'000'005u);
  }
  EXPECT_EQ(Defects(), "");
  for (const char* name : {"a", "b", "d"}) EXPECT_EQ(ReadFile(name), large);
  EXPECT_EQ(ReadFile("e"), "small");
}

TEST_F(ResumeTest, ATornFrameIsCutOff) {
  {
    const auto writer = Begin();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(AddText(*writer, Name(i), Text(i)).ok());
  }
  WriterOptions options{.resume = true};
  {
    const auto writer = Begin(options);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(*writer->Resume(Name(i), kFile, Text(i).size()));
    ASSERT_TRUE(AddText(*writer, Name(3), Text(3)).ok());
  }
  const std::string sidecar = store_ + "/shard-00000001-00000.catalogue";
  const auto bytes = std::filesystem::file_size(sidecar);
  std::filesystem::resize_file(sidecar, bytes - 1);  // in the second frame
  EXPECT_EQ(GoOn(5, options).resumed_count, 3u);
  ExpectFiles(5);
}

TEST_F(ResumeTest, AShardShorterThanItsCatalogueSaysIsNotTrusted) {
  {
    const auto writer = Begin();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(AddText(*writer, Name(i), Text(i)).ok());
  }
  std::filesystem::resize_file(store_ + "/shard-00000001-00000", 2'500'000);
  EXPECT_EQ(GoOn(3, {}).resumed_count, 0u);
  ExpectFiles(3);
}

TEST_F(ResumeTest, WithoutResumeDebrisIsCleared) {
  WriteAndDie(50, {.shard_bytes = 20'000'000});
  WriteText(store_ + "/index-00000001", "half");
  WriteText(store_ + "/manifest.new", "half");
  Create({{"a", "new"}});
  EXPECT_THAT(Files(), ElementsAre("index-00000001", "shard-00000001-00000"));
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(ReadFile("a"), "new");
}

TEST_F(ResumeTest, WithNothingToResumeItStartsAnew) {
  EXPECT_EQ(GoOn(2, {}).resumed_count, 0u);
  ExpectFiles(2);
}

TEST_F(ResumeTest, AnAppendIsResumedToo) {
  Create({{"old", "old"}});
  const WriterOptions options{.mode = WriteMode::kAppend, .shard_bytes = 20'000'000};
  WriteAndDie(60, options);
  EXPECT_EQ(ReadFile("old"), "old");
  EXPECT_EQ(Defects(), "") << "debris of a later generation does not matter";
  const WriterSummary summary = GoOn(60, options);
  EXPECT_GE(summary.resumed_count, 40u);
  EXPECT_EQ(summary.generation, 2u);
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(ReadFile("old"), "old");
  for (int i = 0; i < 60; ++i) EXPECT_EQ(ReadFile(Name(i)), Text(i));
}

TEST_F(ResumeTest, AnAppendsDebrisIsNothingToAReplace) {
  Create({{"old", "old"}});
  WriteAndDie(45, {.mode = WriteMode::kAppend, .shard_bytes = 20'000'000});
  EXPECT_EQ(GoOn(3, {.mode = WriteMode::kReplace}).resumed_count, 0u);
  ExpectFiles(3);
}

TEST_F(ResumeTest, AShardWithAnotherBaseGenerationIsDebris) {
  Create({{"old", "old"}});
  const WriterOptions options{.mode = WriteMode::kAppend, .shard_bytes = 20'000'000};
  WriteAndDie(45, options);
  const std::string path = store_ + "/shard-00000002-00001";
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  std::string header(64, '\0');
  file.read(header.data(), 64);
  ASSERT_EQ(header[24], 1) << "the generation that it adds to, FORMAT.md section 6";
  header[24] = 0;
  const uint64_t sum = HashBytes64(Bytes(header).first(56));
  std::memcpy(header.data() + 56, &sum, sizeof(sum));
  file.seekp(0);
  file.write(header.data(), 64);
  file.close();
  EXPECT_EQ(GoOn(3, options).resumed_count, 0u);
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(ReadFile("old"), "old");
  EXPECT_EQ(ReadFile(Name(2)), Text(2));
}

TEST_F(ResumeTest, ARefusedCommitLeavesItsRecordsForAResume) {
  {
    const auto writer = Begin();
    ASSERT_TRUE(AddText(*writer, "a", "one").ok());
    ASSERT_TRUE(AddText(*writer, "a", "two").ok());
    EXPECT_EQ(writer->Commit().status().code(), Code::kExists);
  }
  const auto writer = Begin({.on_duplicate = OnDuplicate::kLast, .resume = true});
  EXPECT_TRUE(*writer->Resume("a", kFile, 3));
  EXPECT_TRUE(*writer->Resume("a", kFile, 3));
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(ReadFile("a"), "two");
}

}  // namespace
}  // namespace augur
