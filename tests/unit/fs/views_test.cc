// SPDX-License-Identifier: Apache-2.0
// Views without a mount: the tree, the budget of rendered files, and what is shared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fs/view_paths.h"
#include "store/sha256.h"
#include "unit/fs/views_fixture.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using ViewsTest = ViewsFixture;

TEST_F(ViewsTest, AnArrayHasThePixels) {
  OpenWithViews();
  const Image image = RandomImage(kSide, 3);
  const Result<std::string> file = ReadNow(NodeOf(In("npy", "images/103.npy")), 0, kReadBytesMax);
  ASSERT_TRUE(file.ok()) << file.status().text();
  ASSERT_THAT(*file, SizeIs(kArrayBytes));
  EXPECT_EQ(file->substr(kHeaderBytes), std::string(reinterpret_cast<const char*>(image.pixels.get()), image.bytes()));
}

// As with records (R1): what was rendered from one image is not found by the hash of another.
TEST_F(ViewsTest, AForgedHashIsNoIdentity) {
  const std::vector<std::byte> honest = Png(RandomImage(kSide, 1));
  const std::vector<std::byte> forged = Png(RandomImage(kSide, 2));
  std::filesystem::remove_all(store_path());
  Write([&](StoreWriter& writer) {
    const RecordHashes hash = HashRecord(honest);
    ASSERT_TRUE(writer.AddFile("honest.png", {.mode = 0644}, ProbeImage(honest), honest, hash).ok());
    ASSERT_TRUE(writer.AddFile("forged.png", {.mode = 0644}, ProbeImage(forged), forged, hash).ok());
  });
  OpenWithViews();
  const NodeId node = NodeOf(In("npy", "honest.npy"));
  ASSERT_TRUE(ReadNow(node, 0, kArrayBytes - 1).ok());  // not to its end, so that it is kept
  EXPECT_EQ(ReadNow(NodeOf(In("npy", "forged.npy")), 0, kArrayBytes).status().code(), Code::kCorrupt);
}

TEST_F(ViewsTest, ARecordOfSeveralBlocksIsReadAsAWhole) {
  OpenWithViews(16 << 20);
  const Image image = RandomImage(700, 99);
  const NodeId node = NodeOf(In("npy", "large.npy"));
  const Result<std::string> tail = ReadNow(node, kHeaderBytes + 1000, kReadBytesMax);
  ASSERT_TRUE(tail.ok()) << tail.status().text();
  EXPECT_EQ(*tail, std::string(reinterpret_cast<const char*>(image.pixels.get()) + 1000, kReadBytesMax));
  EXPECT_THAT(*ReadNow(node, kHeaderBytes + image.bytes(), 10), SizeIs(0));
}

TEST_F(ViewsTest, AListingGivesTheNodesOfLookups) {
  OpenWithViews();
  for (const char* spec : {"npy", "pixels", "pixels+all+names=own+as=bmp"}) {
    const auto items = List(NodeOf(In(spec, "images")));
    EXPECT_THAT(items, SizeIs(kImages + 2));
    for (const auto& [name, attributes] : items) {
      if (name == "." || name == "..") continue;
      EXPECT_EQ(NodeOf(In(spec, "images/" + name)), attributes.node);
      EXPECT_EQ(fs_->GetAttributes(attributes.node)->size, attributes.size);
    }
    EXPECT_EQ(items.at("..").node, NodeOf(In(spec, "")));
  }
  EXPECT_EQ(List(NodeOf(In("npy", ""))).at("..").node, NodeOf(".augur/views"));
  EXPECT_THAT(List(NodeOf(".augur/views")), SizeIs(2));
}

TEST_F(ViewsTest, OffsetsAreThoseOfTheFolder) {
  OpenWithViews();
  // broken.png, images, large.png, notes.txt: the last is absent.
  std::vector<std::pair<std::string, uint64_t>> offsets;
  ASSERT_TRUE(fs_->ReadDirectory(NodeOf(In("npy", "")), 2,
                                 [&](const DirectoryItem& item) {
                                   offsets.emplace_back(item.name, item.next_offset);
                                   return true;
                                 })
                  .ok());
  EXPECT_THAT(offsets, ElementsAre(std::pair("broken.npy", 3), std::pair("images", 4), std::pair("large.npy", 5)));
}

TEST_F(ViewsTest, WhatIsNotThereIsNotFound) {
  OpenWithViews();
  const NodeId views = NodeOf(".augur/views");
  const NodeId npy = fs_->Lookup(views, "npy")->node;
  EXPECT_EQ(fs_->Lookup(npy, "notes.txt").status().code(), Code::kNotFound);
  EXPECT_EQ(fs_->Lookup(npy, "broken.png").status().code(), Code::kNotFound);
  EXPECT_EQ(fs_->Lookup(views, "npy+size=0").status().code(), Code::kNotFound);
  const Node original = PartsOf(NodeOf("notes.txt"));
  const uint32_t view = PartsOf(npy).view;
  EXPECT_EQ(fs_->GetAttributes(Node{.view = view, .entry = original.entry}.id()).status().code(), Code::kNotFound);
  EXPECT_EQ(fs_->GetAttributes(Node{.view = 77, .entry = 0}.id()).status().code(), Code::kNotFound);
  EXPECT_EQ(fs_->GetAttributes(Node{.view = ViewTable::kRootNumber, .entry = 0}.id()).status().code(), Code::kNotFound);
}

TEST_F(ViewsTest, WithoutAPoolThereAreNone) {
  Open();
  EXPECT_EQ(fs_->Lookup(kRootNode, ".augur").status().code(), Code::kNotFound);
  EXPECT_EQ(fs_->GetAttributes(Node{.view = Node::kViewsFolderView, .entry = 0}.id()).status().code(), Code::kNotFound);
  EXPECT_THAT(fs_->Views(), SizeIs(0));
}

TEST_F(ViewsTest, TheRootMayBeAView) {
  OpenWithViews(kBudget, *ParseViewSpec("npy"));
  EXPECT_EQ(List(kRootNode).at(".").node, kRootNode);
  EXPECT_EQ(List(NodeOf("images")).at("..").node, kRootNode);
  EXPECT_EQ(fs_->GetAttributes(NodeOf("images/100.npy"))->size, kArrayBytes);
  EXPECT_EQ(fs_->Lookup(kRootNode, "notes.txt").status().code(), Code::kNotFound);
  const uint64_t entry = PartsOf(NodeOf("images")).entry;
  EXPECT_EQ(fs_->GetAttributes(Node{.view = 0, .entry = entry}.id()).status().code(), Code::kNotFound);
  // The same view by its name is another place, with nodes of its own, and the same files.
  EXPECT_NE(NodeOf(In("npy", "images")), NodeOf("images"));
  ASSERT_TRUE(ReadNow(NodeOf("images/100.npy"), 0, 10).ok());
  ASSERT_TRUE(ReadNow(NodeOf(In("npy", "images/100.npy")), 0, 10).ok());
  EXPECT_EQ(statistics_.Get(Stat::kImagesDecoded), 1u);
}

TEST_F(ViewsTest, AnImageThatCannotBeDecodedIsAFailureOfItself) {
  OpenWithViews();
  for (uint64_t attempt = 1; attempt <= 2; ++attempt) {
    EXPECT_EQ(ReadNow(NodeOf(In("npy", "broken.npy")), 0, 10).status().code(), Code::kCorrupt);
    EXPECT_EQ(statistics_.Get(Stat::kDecodeErrors), attempt);
  }
  EXPECT_TRUE(ReadNow(NodeOf(In("npy", "images/100.npy")), 0, 10).ok());
}

TEST_F(ViewsTest, WhatCanNeverFitIsRefused) {
  OpenWithViews(256 << 10);
  const Result<std::string> large = ReadNow(NodeOf(In("npy", "large.npy")), 0, 10);
  EXPECT_EQ(large.status().code(), Code::kNoSpace);
  EXPECT_THAT(large.status().text(), HasSubstr("mount with memory= of about"));
  EXPECT_TRUE(ReadNow(NodeOf(In("npy", "images/100.npy")), 0, 10).ok());
}

// Readers of more than the budget holds: each gets its bytes, and at the end no more is kept than may be.
TEST_F(ViewsTest, ManyReadersOfMoreThanTheBudgetHolds) {
  OpenWithViews(kBudget, std::nullopt, 4);
  constexpr int kReaders = 8;
  std::vector<std::string> wanted;
  wanted.reserve(kImages);
  for (int i = 0; i < kImages; ++i) {
    const Image image = RandomImage(kSide, i);
    wanted.emplace_back(reinterpret_cast<const char*>(image.pixels.get()), image.bytes());
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  readers.reserve(kReaders);
  for (int reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&, reader] {
      std::mt19937_64 random(reader);
      for (int i = 0; i < 200; ++i) {
        const int number = static_cast<int>(random() % kImages);
        const std::string spec = random() % 2 == 0 ? "npy" : "npy+crop=" + std::to_string(300 + random() % 10);
        const NodeId node = NodeOf(In(spec, "images/" + std::to_string(100 + number) + ".npy"));
        const Result<std::string> file = ReadNow(node, kHeaderBytes, kReadBytesMax);
        if (!file.ok() || (spec == "npy" && *file != wanted[number])) ++wrong;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(fs_->rendered_bytes_used(), kBudget);
}

TEST_F(ViewsTest, WhatManyWantIsMadeOnce) {
  OpenWithViews();
  const NodeId node = NodeOf(In("npy", "images/105.npy"));
  std::vector<std::thread> readers;
  readers.reserve(8);
  std::atomic<int> read = 0;
  for (int i = 0; i < 8; ++i) {
    readers.emplace_back([&] { read += ReadNow(node, 0, kReadBytesMax).ok() ? 1 : 0; });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(read, 8);
  EXPECT_EQ(statistics_.Get(Stat::kImagesDecoded), 1u);
  EXPECT_EQ(statistics_.Get(Stat::kRenderedBytes), kArrayBytes);
}

TEST_F(ViewsTest, FilesAreFoundByTheirPathsInTheMount) {
  OpenWithViews();
  const uint64_t number = PartsOf(NodeOf("images/103.png")).entry;
  for (const char* path : {"images/103.png", "./images//103.png", "/images/103.png", ".augur/views/npy/images/103.npy",
                           "./.augur/views/pixels+size=8/images/103.png"}) {
    const Result<Entry> found = fs_->FindByPath(path);
    ASSERT_TRUE(found.ok()) << path << ": " << found.status().text();
    EXPECT_EQ(found->number, number) << path;
  }
  for (const char* path : {"images/103.npy", ".augur/views/npy/images/103.png", ".augur/views/nonsense/images/103.npy",
                           ".augur/views", ".augur/stats.json"}) {
    EXPECT_EQ(fs_->FindByPath(path).status().code(), Code::kNotFound) << path;
  }
  fs_.reset();
  OpenWithViews(kBudget, *ParseViewSpec("npy"));
  ASSERT_TRUE(fs_->FindByPath("images/103.npy").ok());
  EXPECT_EQ(fs_->FindByPath("images/103.png").status().code(), Code::kNotFound);
}

// The helper process works out paths by itself; they must be the daemon's.
TEST_F(ViewsTest, PathsFromOutsideAreThoseOfTheMount) {
  OpenWithViews();
  ViewPaths paths(store_);
  EXPECT_EQ(*paths.PathOf(static_cast<EntryNumber>(PartsOf(NodeOf("images/103.png")).entry)), "images/103.png");
  uint32_t number = 1;
  for (const char* spec : {"npy", "pixels", "pixels+all+as=ppm+names=own"}) {
    ASSERT_TRUE(paths.SelectView(number, spec, false).ok());
    EXPECT_EQ(paths.selected(), number);
    for (const auto& [name, attributes] : List(NodeOf(In(spec, "images")))) {
      if (name == "." || name == "..") continue;
      const auto entry = static_cast<EntryNumber>(PartsOf(attributes.node).entry);
      EXPECT_EQ(*paths.PathOf(entry), In(spec, "images/" + name));
      const auto folder = static_cast<EntryNumber>(PartsOf(NodeOf("images")).entry);
      EXPECT_EQ(*paths.FileIn(number, folder, name), entry);
    }
    EXPECT_EQ(*paths.PathOf(0), In(spec, ""));
    ++number;
  }
  ASSERT_TRUE(paths.SelectView(ViewTable::kRootNumber, "npy", true).ok());
  EXPECT_EQ(*paths.PathOf(static_cast<EntryNumber>(PartsOf(NodeOf("images/103.png")).entry)), "images/103.npy");
  EXPECT_EQ(*paths.PathOf(0), "");
  const auto notes = static_cast<EntryNumber>(PartsOf(NodeOf("notes.txt")).entry);
  EXPECT_EQ(paths.PathOf(notes).status().code(), Code::kNotFound);
  EXPECT_EQ(paths.FileIn(ViewTable::kRootNumber, 0, "notes.txt").status().code(), Code::kNotFound);
  EXPECT_FALSE(paths.SelectView(7, "nonsense", false).ok());
}

TEST_F(ViewsTest, AViewLivesAsLongAsTheKernelHasNodesOfIt) {
  OpenWithViews();
  const NodeId views = NodeOf(".augur/views");
  for (uint32_t i = 1; i <= ViewTable::kViewsMax; ++i) {
    ASSERT_TRUE(fs_->Lookup(views, "npy+crop=" + std::to_string(i)).ok());
  }
  EXPECT_EQ(fs_->Lookup(views, "npy").status().code(), Code::kBusy);
  const NodeId root = fs_->Lookup(views, "npy+crop=3")->node;
  const NodeId images = fs_->Lookup(root, "images")->node;
  const NodeId image = fs_->Lookup(images, "103.npy")->node;
  fs_->Know(image, 1);  // as by a listing
  fs_->Forget(root, 2);
  fs_->Forget(images, 1);
  fs_->Forget(image, 1);
  EXPECT_EQ(fs_->Lookup(views, "npy").status().code(), Code::kBusy);
  EXPECT_TRUE(fs_->GetAttributes(image).ok());
  fs_->Forget(image, 1);
  const Result<NodeAttributes> npy = fs_->Lookup(views, "npy");
  ASSERT_TRUE(npy.ok()) << npy.status().text();
  EXPECT_EQ(fs_->GetAttributes(image).status().code(), Code::kNotFound);
  EXPECT_TRUE(ReadNow(NodeOf(In("npy", "images/103.npy")), 0, 10).ok());
}

}  // namespace
}  // namespace augur
