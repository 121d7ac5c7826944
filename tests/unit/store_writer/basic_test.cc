// SPDX-License-Identifier: Apache-2.0

#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(StoreWriterTest, WritesAStoreThatReadsBack) {
  const auto writer = Begin();
  ASSERT_NE(writer, nullptr);
  ASSERT_TRUE(writer->AddDirectory("", {.mode = 0750, .mtime_sec = 7, .mtime_nsec = 8}).ok());
  ASSERT_TRUE(writer->AddDirectory("empty", {.mode = 0700, .mtime_sec = -5, .mtime_nsec = 999'999'999}).ok());
  ASSERT_TRUE(AddText(*writer, "b/two", "second").ok());
  ASSERT_TRUE(AddText(*writer, "b/one", "first").ok());
  ASSERT_TRUE(AddText(*writer, "a", "").ok());
  const ImageInfo image{.width = 640,
                        .height = 480,
                        .exif_bytes = 0,
                        .kind = ImageKind::kJpeg,
                        .channels = 3,
                        .orientation = 0,
                        .bit_depth = 8};
  ASSERT_TRUE(
      writer->AddFile("b/x.jpg", {.mode = 0100444, .mtime_sec = 3, .mtime_nsec = 0}, image, Bytes("jpeg")).ok());
  ASSERT_TRUE(writer->AddSymlink("link", {.mode = 0777, .mtime_sec = 1, .mtime_nsec = 0}, "b/one").ok());
  const auto summary = writer->Commit();
  ASSERT_TRUE(summary.ok()) << summary.status().text();
  EXPECT_EQ(summary->file_count, 4u);
  EXPECT_EQ(summary->directory_count, 3u);
  EXPECT_EQ(summary->symlink_count, 1u);
  EXPECT_EQ(summary->image_count, 1u);
  EXPECT_EQ(summary->tree_bytes, 15u);
  EXPECT_EQ(summary->stored_bytes, 15u);
  EXPECT_EQ(summary->duplicate_count, 0u);
  EXPECT_EQ(summary->generation, 1u);

  EXPECT_EQ(Defects(), "");
  EXPECT_THAT(Files(), ElementsAre("index-00000001", "shard-00000001-00000"));
  const auto opened = Store::Open(store_);
  ASSERT_TRUE(opened.ok()) << opened.status().text();
  const Store& store = **opened;
  EXPECT_EQ(ReadFile(store, "b/one"), "first");
  EXPECT_EQ(ReadFile(store, "b/two"), "second");
  EXPECT_EQ(ReadFile(store, "a"), "");
  const Entry root = *store.Get(0);
  EXPECT_EQ(root.mode, 0040750u);
  EXPECT_EQ(root.mtime_sec, 7);
  EXPECT_EQ(root.mtime_nsec, 8u);
  EXPECT_EQ(root.size, 4u);
  EXPECT_EQ(store.Child(root, 0)->name, "a");
  EXPECT_EQ(store.Child(root, 1)->name, "b");
  EXPECT_EQ(store.Child(root, 2)->name, "empty");
  EXPECT_EQ(store.Child(root, 3)->name, "link");
  EXPECT_EQ(store.Find("empty")->mtime_sec, -5);
  EXPECT_EQ(store.Find("b")->mode, 0040755u) << "a folder that was never added";
  EXPECT_EQ(store.Find("b")->mtime_sec, 1000) << "the newest below it";
  EXPECT_EQ(store.Find("b/x.jpg")->mode, 0100444u);
  EXPECT_EQ(store.Find("b/x.jpg")->image, image);
  EXPECT_EQ(*store.LinkTarget(*store.Find("link")), "b/one");
}

}  // namespace
}  // namespace augur
