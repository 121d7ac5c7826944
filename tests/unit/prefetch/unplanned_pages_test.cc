// SPDX-License-Identifier: Apache-2.0
#include "prefetch/unplanned_pages.h"

#include <gtest/gtest.h>

#include <vector>

namespace augur {
namespace {

using Files = std::vector<EntryNumber>;

// What the view has when it is followed again.
Files Resumed(UnplannedPages& pages, uint32_t view) {
  pages.Resume(view);
  return pages.Take({0, 1});
}

void Suspend(UnplannedPages& pages, uint32_t view, const Files& files, uint64_t bytes) {
  for (const EntryNumber file : files) pages.Add(file);
  pages.Suspend(view, bytes);
}

TEST(UnplannedPagesTest, EachFileOfTheFollowedViewIsTakenOnce) {
  UnplannedPages pages(4);
  EXPECT_EQ(pages.files(), 0U);
  EXPECT_EQ(pages.Take({0, 1, 2, 3}), Files());
  pages.Add(1);
  pages.Add(3);
  pages.Add(3);
  EXPECT_EQ(pages.files(), 2U);
  EXPECT_EQ(pages.Take({3, 0, 3}), Files{3});
  EXPECT_EQ(pages.files(), 1U);
  pages.Forget();
  EXPECT_EQ(pages.files(), 0U);
  EXPECT_EQ(pages.Take({1}), Files());
}

TEST(UnplannedPagesTest, OfEachViewWhatWasLeftLast) {
  UnplannedPages pages(2);
  Suspend(pages, 1, {0}, 100);
  EXPECT_EQ(pages.files(), 0U);
  Suspend(pages, 2, {1}, 50);
  EXPECT_EQ(pages.BytesBeside(1), 50U);
  EXPECT_EQ(pages.BytesBeside(3), 150U);
  Suspend(pages, 2, {0, 1}, 70);
  EXPECT_EQ(pages.BytesBeside(1), 70U);
  EXPECT_EQ(Resumed(pages, 2), (Files{0, 1}));
  EXPECT_EQ(Resumed(pages, 2), Files());
  pages.AddOther(2, 1, 30);
  pages.AddOther(2, 1, 30);
  pages.AddOther(1, 1, 5);
  EXPECT_EQ(pages.BytesBeside(1), 30U);
  EXPECT_EQ(pages.BytesBeside(2), 105U);
  EXPECT_EQ(Resumed(pages, 2), Files{1});
  EXPECT_EQ(pages.BytesBeside(3), 105U);
  pages.ForgetOthers();
  EXPECT_EQ(pages.BytesBeside(3), 0U);
}

TEST(UnplannedPagesTest, OfTooManyViewsTheOldAreForgotten) {
  UnplannedPages pages(2);
  for (uint32_t view = 0; view < UnplannedPages::kViewsMax; ++view) Suspend(pages, view, {0}, 1);
  EXPECT_EQ(pages.BytesBeside(99), UnplannedPages::kViewsMax);
  Suspend(pages, 50, {0}, 1);
  EXPECT_EQ(pages.BytesBeside(99), 1U);
  EXPECT_EQ(Resumed(pages, 50), Files{0});
}

}  // namespace
}  // namespace augur
