// SPDX-License-Identifier: Apache-2.0
#include "pack/view_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/pack/view_fixture.h"

namespace augur {
namespace {

using testing::ElementsAre;

// "path", "path size" of files, "- path" of what is not in the view: all that a walk finds, by the paths of the view.
std::vector<std::string> WalkAll(const Store& store, const std::string& text, const PathFilter& filter = {}) {
  const ViewSpec spec = SpecOf(text);
  ViewWalk walk(store, spec, filter);
  std::vector<std::string> all;
  ViewItem item;
  for (;;) {
    const Result<bool> more = walk.Next(&item);
    EXPECT_TRUE(more.ok()) << more.status().text();
    if (!more.ok() || !*more) return all;
    if (item.role == ViewRole::kAbsent) {
      all.push_back("- " + item.source_path);
    } else if (item.entry.type == EntryType::kFile) {
      all.push_back(item.path + " " + std::to_string(item.size));
    } else {
      all.push_back(item.path);
    }
  }
}

// "path label" of all images.
std::vector<std::string> Labels(const Store& store, const PathFilter& filter = {}) {
  const ViewSpec spec = SpecOf("pt+item=pair");
  ViewWalk walk(store, spec, filter);
  std::vector<std::string> all;
  ViewItem item;
  for (Result<bool> more = walk.Next(&item); more.ok() && *more; more = walk.Next(&item)) {
    if (item.role == ViewRole::kRendered) all.push_back(item.source_path + " " + std::to_string(item.label));
  }
  return all;
}

PathFilter FilterOf(const std::vector<std::string>& include, const std::vector<std::string>& exclude) {
  return PathFilter::Make(include, exclude).value();
}

TEST(ViewWalk, IsInPathOrderOfTheStore) {
  ViewStore made;
  made.AddImage("b/z.png");
  made.AddText("b/a.txt", "text");
  made.AddText("b.csv", "a,b");
  made.AddImage("a.png");
  ASSERT_TRUE(made.writer().AddSymlink("link", {}, "b/z.png").ok());
  const auto store = made.Open();
  EXPECT_THAT(WalkAll(*store, "npy"), ElementsAre("", "a.npy 152", "b", "- b/a.txt", "b/z.npy 152", "- b.csv", "link"));
  const std::string png = " " + std::to_string(PlainPng(4, 2, 0).size());
  EXPECT_THAT(WalkAll(*store, "pixels"),
              ElementsAre("", "a.png" + png, "b", "b/a.txt 4", "b/z.png" + png, "b.csv 3", "link"));
  EXPECT_THAT(WalkAll(*store, "pixels+all+as=ppm+names=own+size=2x1"),
              ElementsAre("", "a.ppm 17", "b", "b/a.txt 4", "b/z.ppm 17", "b.csv 3", "link"));
}

TEST(ViewWalk, WhatTheFilterLeavesOutTakesNoName) {
  ViewStore made;
  made.AddImage("d/x.jpg");
  made.AddImage("d/x.png");
  made.AddText("d/y.npy", "taken");
  made.AddImage("d/y.png");
  made.AddImage("e/x.png");
  const auto store = made.Open();
  EXPECT_THAT(WalkAll(*store, "npy"), ElementsAre("", "d", "d/x.jpg.npy 152", "d/x.png.npy 152", "- d/y.npy",
                                                  "d/y.png.npy 152", "e", "e/x.npy 152"));
  EXPECT_THAT(WalkAll(*store, "npy", FilterOf({}, {"*.jpg", "*.npy"})),
              ElementsAre("", "d", "d/x.npy 152", "d/y.npy 152", "e", "e/x.npy 152"));
  EXPECT_THAT(WalkAll(*store, "npy", FilterOf({"d/*.png"}, {"e"})), ElementsAre("", "d", "d/x.npy 152", "d/y.npy 152"));
}

TEST(ViewWalk, ANameThatWouldBeTooLongIsAbsent) {
  ViewStore made;
  made.AddImage(std::string(255, 'n'));
  made.AddImage(std::string(251, 'm'));
  const auto store = made.Open();
  EXPECT_THAT(WalkAll(*store, "npy"),
              ElementsAre("", std::string(251, 'm') + ".npy 152", "- " + std::string(255, 'n')));
}

TEST(ViewWalk, AnEmptyStoreHasItsRoot) {
  ViewStore made;
  EXPECT_THAT(WalkAll(*made.Open(), "npy"), ElementsAre(""));
}

TEST(ViewWalk, ALabelIsTheNumberOfTheClass) {
  ViewStore made;
  for (const char* path :
       {"train/b/2.png", "train/b/deep/3.png", "train/a.x/1.png", "train/4.png", "val/b/5.png", "6.png"}) {
    made.AddImage(path);
  }
  made.AddText("train/a.txt", "no folder");
  made.AddText("train/aa/no", "no image, and yet a class");
  for (const auto& [path, target] :
       {std::pair("train/ab", "../val/b"), std::pair("train/ac", "ab"), std::pair("train/ad", "a.txt"),
        std::pair("train/ae", "/val/b"), std::pair("train/af", "../../val"), std::pair("train/ag", "ag")}) {
    ASSERT_TRUE(made.writer().AddSymlink(path, {}, target).ok());
  }
  const auto store = made.Open();
  EXPECT_THAT(Labels(*store), testing::UnorderedElementsAre("train/a.x/1.png 0", "train/b/2.png 4",
                                                            "train/b/deep/3.png 4", "val/b/5.png 0"));
  EXPECT_THAT(Labels(*store, FilterOf({}, {"train/a*"})),
              testing::UnorderedElementsAre("train/b/2.png 0", "train/b/deep/3.png 0", "val/b/5.png 0"));
}

// As what is packed has them.
TEST(ViewWalk, WhatTheFilterLeavesOutTakesNoLabel) {
  ViewStore made;
  for (const char* path : {"a/1.png", "b/2.jpg", "d/deep/3.jpg", "e/4.png"}) made.AddImage(path);
  ASSERT_TRUE(made.writer().AddSymlink("c", {}, "a").ok());
  const auto store = made.Open();
  EXPECT_THAT(Labels(*store), testing::UnorderedElementsAre("a/1.png 0", "b/2.jpg 1", "d/deep/3.jpg 3", "e/4.png 4"));
  EXPECT_THAT(Labels(*store, FilterOf({}, {"a"})),
              testing::UnorderedElementsAre("b/2.jpg 0", "d/deep/3.jpg 1", "e/4.png 2"))
      << "the link leads nowhere";
  EXPECT_THAT(Labels(*store, FilterOf({"*.jpg"}, {})), testing::UnorderedElementsAre("b/2.jpg 0", "d/deep/3.jpg 1"))
      << "folders that are left empty are left out";
}

TEST(ViewWalk, ARootOfClassesHasLabelsItself) {
  ViewStore made;
  for (const char* path : {"cat/1.png", "cat/train/2.png", "dog/3.png", "4.png"}) made.AddImage(path);
  const auto store = made.Open();
  EXPECT_THAT(Labels(*store), testing::UnorderedElementsAre("cat/1.png 0", "cat/train/2.png 0", "dog/3.png 1"));
}

}  // namespace
}  // namespace augur
