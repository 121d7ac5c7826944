// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

// Bytes that differ from block to block.
std::string Pattern(size_t size, unsigned seed) {
  std::string text(size, '\0');
  uint64_t x = seed * 2654435761U + 1;
  for (char& c : text) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    c = static_cast<char>(x >> 56);
  }
  return text;
}

class StreamTest : public StoreWriterTest {
 protected:
  // Writes `text` in pieces of `piece` bytes.
  static void Stream(StoreWriter& writer, const std::string& path, std::string_view text, size_t piece) {
    ASSERT_TRUE(writer.BeginFile(path).ok());
    for (size_t at = 0; at < text.size(); at += piece) ASSERT_TRUE(writer.Write(Bytes(text.substr(at, piece))).ok());
    ASSERT_TRUE(writer.EndFile({.mode = 0600, .mtime_sec = 9, .mtime_nsec = 1}, {}).ok());
  }
};

TEST_F(StreamTest, SizesAroundTheBlockAreTheSameWhole) {
  const std::vector<size_t> sizes = {0, 1, kBlockBytes - 1, kBlockBytes, kBlockBytes + 1, 3 * kBlockBytes, 3'500'000};
  const auto writer = Begin();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string text = Pattern(sizes[i], static_cast<unsigned>(i));
    Stream(*writer, "streamed" + std::to_string(i), text, 100'000);
    ASSERT_TRUE(AddText(*writer, "whole" + std::to_string(i), Pattern(sizes[i], 100 + static_cast<unsigned>(i))).ok());
  }
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(Defects(), "");
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(ReadFile("streamed" + std::to_string(i)), Pattern(sizes[i], static_cast<unsigned>(i))) << sizes[i];
    EXPECT_EQ(ReadFile("whole" + std::to_string(i)), Pattern(sizes[i], 100 + static_cast<unsigned>(i))) << sizes[i];
  }
}

TEST_F(StreamTest, ADuplicateIsTakenBack) {
  const std::string text = Pattern(2'500'000, 1);
  const auto writer = Begin();
  ASSERT_TRUE(AddText(*writer, "whole", text).ok());
  Stream(*writer, "streamed", text, 77'777);
  Stream(*writer, "small", "abc", 1);
  Stream(*writer, "small2", "abc", 2);
  ASSERT_TRUE(AddText(*writer, "after", "after").ok());
  const auto summary = writer->Commit();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->duplicate_count, 2u);
  EXPECT_EQ(summary->stored_bytes, 2'500'008u);
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(ReadFile("streamed"), text);
  EXPECT_EQ(ReadFile("small2"), "abc");
  EXPECT_EQ(ReadFile("after"), "after");
  EXPECT_LT(std::filesystem::file_size(store_ + "/shard-00000001-00000"), 2'502'000u);
}

TEST_F(StreamTest, AnAbandonedFileLeavesNoTrace) {
  const auto writer = Begin();
  ASSERT_TRUE(AddText(*writer, "before", "before").ok());
  ASSERT_TRUE(writer->BeginFile("gone").ok());
  ASSERT_TRUE(writer->Write(Bytes(Pattern(5'000'000, 3))).ok());
  ASSERT_TRUE(writer->AbandonFile().ok());
  ASSERT_TRUE(writer->BeginFile("gone too").ok());
  ASSERT_TRUE(writer->AbandonFile().ok());
  ASSERT_TRUE(AddText(*writer, "after", "after").ok());
  const auto summary = writer->Commit();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->file_count, 2u);
  EXPECT_EQ(summary->stored_bytes, 11u);
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(ReadFile("before"), "before");
  EXPECT_EQ(ReadFile("after"), "after");
  EXPECT_LT(std::filesystem::file_size(store_ + "/shard-00000001-00000"), 1000u);
}

TEST_F(StreamTest, WrongAttributesAtTheEndLeaveNoTraceEither) {
  const auto writer = Begin();
  ASSERT_TRUE(writer->BeginFile("a").ok());
  ASSERT_TRUE(writer->Write(Bytes("text")).ok());
  const Status status = writer->EndFile({.mode = 0, .mtime_sec = 0, .mtime_nsec = 1'000'000'000}, {});
  EXPECT_EQ(status.code(), Code::kInvalid);
  ASSERT_TRUE(AddText(*writer, "a", "other").ok());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(ReadFile("a"), "other");
  EXPECT_EQ(Defects(), "");
}

TEST_F(StreamTest, ARecordIsNeverSplitOverShards) {
  const auto writer = Begin({.shard_bytes = 1'000'000});
  for (unsigned i = 0; i < 7; ++i) ASSERT_TRUE(AddText(*writer, std::to_string(i), Pattern(400'000, i)).ok());
  Stream(*writer, "large", Pattern(4'000'000, 50), 250'000);
  ASSERT_TRUE(AddText(*writer, "last", "last").ok());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(Defects(), "");
  EXPECT_THAT(Files(), testing::ElementsAre("index-00000001", "shard-00000001-00000", "shard-00000001-00001",
                                            "shard-00000001-00002", "shard-00000001-00003"));
  const auto store = *Store::Open(store_);
  EXPECT_EQ(store->Find("2")->shard, 0u) << "a shard is closed when it has reached its size";
  EXPECT_EQ(store->Find("3")->shard, 1u);
  EXPECT_EQ(store->Find("large")->shard, 2u);
  EXPECT_EQ(store->Find("last")->shard, 3u);
  EXPECT_EQ(ReadFile(*store, "large"), Pattern(4'000'000, 50));
}

}  // namespace
}  // namespace augur
