// SPDX-License-Identifier: Apache-2.0
#include "pack/render_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "store/sha256.h"
#include "unit/pack/view_fixture.h"

namespace augur {
namespace {

using testing::HasSubstr;

// What came out of the window of one file.
struct Made {
  std::string path;
  uint64_t size = 0;
  std::string bytes;  // of a small one
  ImageInfo image;
  HashPair hashes;
  Status status;
};

// Sends the whole store through a window, as a packer does.
std::vector<Made> MakeAll(const Store& store, const std::string& text, unsigned decoders) {
  const ViewSpec spec = SpecOf(text);
  const PathFilter filter;
  const auto window = RenderWindow::Start(store, spec, decoders);
  EXPECT_TRUE(window.ok());
  ViewWalk walk(store, spec, filter);
  ViewItem item;
  bool has_item = *walk.Next(&item);
  std::vector<Made> all;
  while (has_item || !(*window)->empty()) {
    while (has_item && (*window)->Offer(item, false)) has_item = *walk.Next(&item);
    const RenderSlot& slot = (*window)->Front();
    if (slot.item.entry.type == EntryType::kFile) {
      all.push_back({.path = slot.item.path,
                     .size = slot.bytes.size(),
                     .bytes = std::string(reinterpret_cast<const char*>(slot.bytes.data()),
                                          slot.bytes.size() <= kBlockBytes ? slot.bytes.size() : 0),
                     .image = slot.image,
                     .hashes = slot.hashes.whole,
                     .status = slot.status});
    }
    (*window)->Pop();
  }
  return all;
}

HashPair HashesOf(const std::string& bytes) { return HashRecord(std::as_bytes(std::span(bytes))).whole; }

TEST(RenderWindow, HandsOutInOrderWhatManyThreadsMake) {
  ViewStore made;
  for (int i = 0; i < 3000; ++i) {
    const std::string name = std::to_string(10000 + i);
    if (i % 3 == 0) {
      made.AddText(name, name);
    } else {
      made.AddImage(name, static_cast<uint8_t>(i));
    }
  }
  const std::vector<Made> all = MakeAll(*made.Open(), "pixels+all+as=ppm", 8);
  ASSERT_EQ(all.size(), 3000U);
  for (int i = 0; i < 3000; ++i) {
    const Made& one = all[static_cast<size_t>(i)];
    ASSERT_TRUE(one.status.ok()) << one.status.text();
    EXPECT_EQ(one.path, std::to_string(10000 + i));
    EXPECT_EQ(one.bytes, i % 3 == 0 ? one.path : "P6\n4 2\n255\n" + std::string(24, static_cast<char>(i)));
    EXPECT_EQ(one.hashes, HashesOf(one.bytes));
    EXPECT_EQ(one.image, ImageInfo());
  }
}

TEST(RenderWindow, SaysOfWhatItMadeWhatTheNewBytesAre) {
  ViewStore made;
  made.Add("a", PlainPng(40, 20, 7));
  const std::vector<Made> all = MakeAll(*made.Open(), "pixels+all+size=10", 1);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].image.kind, ImageKind::kPng);
  EXPECT_EQ(all[0].image.width, 20U);
  EXPECT_EQ(all[0].image.height, 10U);
}

TEST(RenderWindow, OnesThatAreOverTheBudgetComeThroughOneByOne) {
  ViewStore made;
  for (int i = 0; i < 4; ++i) made.Add(std::to_string(i), PlainPng(500, 500, static_cast<uint8_t>(i)));
  const uint64_t bytes = 128 + uint64_t{3800} * 3800 * 3 * 4;  // 173 MB
  static_assert(uint64_t{3800} * 3800 * 3 * 4 > RenderWindow::kWorkBytesMax);
  const std::vector<Made> all = MakeAll(*made.Open(), "npy+dtype=f32+crop=3800", 4);
  ASSERT_EQ(all.size(), 4U);
  for (const Made& one : all) {
    ASSERT_TRUE(one.status.ok()) << one.status.text();
    EXPECT_EQ(one.size, bytes);
  }
}

TEST(RenderWindow, AFailureIsThatOfItsFile) {
  ViewStore made;
  std::vector<std::byte> broken = PlainPng(64, 64, 1);
  broken.resize(broken.size() / 2);
  made.AddImage("a", 1);
  made.Add("b", broken);
  made.AddImage("c", 2);
  const std::vector<Made> all = MakeAll(*made.Open(), "npy", 2);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[0].status.ok() && all[2].status.ok());
  EXPECT_THAT(all[1].status.text(), HasSubstr("PNG: "));
  EXPECT_EQ(all[2].bytes.substr(128), std::string(24, 2));
}

TEST(RenderWindow, ALargeFileThatPassesThroughIsTheTakers) {
  ViewStore made;
  const std::string large(RenderWindow::kWholeFileBytesMax + 1, 'x');
  made.AddText("large", large);
  made.AddText("small", large.substr(1));
  const std::vector<Made> all = MakeAll(*made.Open(), "pixels", 1);
  EXPECT_EQ(all[0].size, 0U);
  EXPECT_EQ(all[1].size, RenderWindow::kWholeFileBytesMax);
}

TEST(RenderWindow, CanBeEndedWithFilesInIt) {
  ViewStore made;
  for (int i = 0; i < 100; ++i) made.Add(std::to_string(i), PlainPng(300, 300, static_cast<uint8_t>(i)));
  const auto store = made.Open();
  const ViewSpec spec = SpecOf("npy");
  const PathFilter filter;
  for (int offered = 1; offered < 30; offered += 4) {
    const auto window = RenderWindow::Start(*store, spec, 3);
    ViewWalk walk(*store, spec, filter);
    ViewItem item;
    for (int i = 0; i < offered && *walk.Next(&item); ++i) EXPECT_TRUE((*window)->Offer(item, false));
  }
}

}  // namespace
}  // namespace augur
