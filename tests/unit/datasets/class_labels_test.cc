// SPDX-License-Identifier: Apache-2.0
#include "datasets/class_labels.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/datasets/order_fixture.h"

namespace augur {
namespace {

class ClassLabelsTest : public OrderTest {
 protected:
  // Of the files in a folder: "none", or the number.
  std::string In(const std::string& folder, const TakesEntry& takes = {}) const {
    const Result<Entry> entry = opened_->Find(folder);
    if (!entry.ok()) return entry.status().text();
    const ClassLabels labels(*opened_, takes);
    const Result<std::optional<int32_t>> label = labels.LabelIn(entry->number);
    if (!label.ok()) return label.status().text();
    return *label ? std::to_string(**label) : "none";
  }
};

TEST_F(ClassLabelsTest, FoldersOfTheRootAreClasses) {
  Make({"cat/1", "cat/train/2", "dog/3", "a b/4", "5"});
  EXPECT_EQ(In("a b"), "0");
  EXPECT_EQ(In("cat"), "1");
  EXPECT_EQ(In("cat/train"), "1");
  EXPECT_EQ(In("dog"), "2");
  EXPECT_EQ(In(""), "none");
}

TEST_F(ClassLabelsTest, ASplitIsADataSet) {
  Make({"train/b/1", "train/a.x/2", "train/a/3", "train/4", "val/b/5", "extra/6", "7"}, {}, {"train/empty"});
  EXPECT_EQ(In("train/a"), "0");
  EXPECT_EQ(In("train/a.x"), "1");
  EXPECT_EQ(In("train/b"), "2");
  EXPECT_EQ(In("train/empty"), "3");
  EXPECT_EQ(In("val/b"), "0");
  EXPECT_EQ(In("extra"), "-1") << "it has no classes";
  EXPECT_EQ(In("train"), "none");
  EXPECT_EQ(In(""), "none");
}

TEST_F(ClassLabelsTest, ALinkToAFolderIsAClass) {
  Make({"a.txt", "b/1", "z/2"},
       {{"aa", "z"}, {"ab", "aa"}, {"ac", "a.txt"}, {"ad", "/z"}, {"ae", "../z"}, {"af", "af"}, {"ag", "no"}});
  EXPECT_EQ(In("b"), "2");
  EXPECT_EQ(In("z"), "3");
}

TEST_F(ClassLabelsTest, AStoreWithoutFoldersHasNoLabels) {
  Make({"1", "2"});
  EXPECT_EQ(In(""), "-1");
}

TEST_F(ClassLabelsTest, NamesAreOrderedAsInPython) {
  Make({"\xEF\xBC\xA1/1", "\xF0\x9F\x98\x80/2", "\x80/3"});
  EXPECT_EQ(In("\x80"), "0") << "U+DC80";
  EXPECT_EQ(In("\xEF\xBC\xA1"), "1");
  EXPECT_EQ(In("\xF0\x9F\x98\x80"), "2");
}

TEST_F(ClassLabelsTest, WhatIsLeftOutTakesNoNumber) {
  Make({"train/a/1", "train/b/2", "val/a/3"});
  EXPECT_EQ(In("train/b", [](const Entry&, const std::string& path) { return path != "train/a"; }), "0");
  EXPECT_EQ(In("train/b", [](const Entry&, const std::string& path) { return path != "train"; }), "none");
}

}  // namespace
}  // namespace augur
