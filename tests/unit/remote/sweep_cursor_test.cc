// SPDX-License-Identifier: Apache-2.0
#include "remote/sweep_cursor.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "augur/store_writer.h"
#include "remote/wanted_range.h"
#include "unit/store/test_store.h"

namespace augur {
namespace {

// A store of files of these sizes, each of which has its own bytes.
std::shared_ptr<const Store> StoreOf(const std::string& path, const std::vector<uint64_t>& sizes) {
  auto writer = StoreWriter::Begin(path, {});
  EXPECT_TRUE(writer.ok());
  for (size_t number = 0; number < sizes.size(); ++number) {
    const std::string content = testing::Noise(sizes[number], static_cast<uint32_t>(number));
    const std::string name = "folder-" + std::to_string(number % 3) + "/" + std::to_string(number);
    EXPECT_TRUE((*writer)->AddFile(name, {.mode = 0644}, {}, std::as_bytes(std::span(content))).ok());
  }
  EXPECT_TRUE((*writer)->Commit().ok());
  auto store = Store::Open(path, {});
  EXPECT_TRUE(store.ok());
  return *store;
}

TEST(SweepCursor, EachBlockIsInOnePiece) {
  const testing::TempFolder folder;
  std::vector<uint64_t> sizes = {0, 1, 30 << 20, (8 << 20) - 1, 8 << 20};
  for (uint64_t number = 0; number < 5000; ++number) sizes.push_back(number % 200);
  const auto store = StoreOf(folder.path() + "/store", sizes);
  SweepCursor cursor(store);
  std::map<std::pair<uint64_t, uint64_t>, int> seen;
  size_t pieces = 0;
  for (std::vector<WantedBlock> piece = cursor.Next(); !piece.empty(); piece = cursor.Next()) {
    ++pieces;
    uint64_t bytes = 0;
    uint64_t before = 0;
    for (const WantedBlock& wanted : piece) {
      EXPECT_GE(OffsetOf(wanted), before) << "the only shard";
      before = OffsetOf(wanted);
      bytes += BytesOf(wanted);
      ++seen[{wanted.file.number, wanted.block}];
    }
    EXPECT_LE(bytes, SweepCursor::kPieceBytes);
    EXPECT_LE(piece.size(), SweepCursor::kPieceBlocks);
  }
  EXPECT_EQ(cursor.percent(), 100U);
  uint64_t blocks = 0;
  for (uint64_t number = 0; number < store->summary().entry_count; ++number) {
    const auto entry = store->Get(number);
    if (entry->type != EntryType::kFile) continue;
    for (uint64_t block = 0; block < Store::BlockCount(*entry); ++block, ++blocks)
      EXPECT_EQ((seen[{number, block}]), 1);
  }
  EXPECT_EQ(seen.size(), blocks);
  EXPECT_LE(pieces, 8U);
  cursor.Restart();
  EXPECT_EQ(cursor.percent(), 0U);
  EXPECT_FALSE(cursor.Next().empty());
}

TEST(SweepCursor, AStoreWithoutBytesHasNoPiece) {
  const testing::TempFolder folder;
  const auto store = StoreOf(folder.path() + "/store", {0, 0});
  SweepCursor cursor(store);
  EXPECT_TRUE(cursor.Next().empty());
}

}  // namespace
}  // namespace augur
