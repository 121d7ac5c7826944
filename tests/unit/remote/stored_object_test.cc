// SPDX-License-Identifier: Apache-2.0
#include "remote/stored_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace augur {
namespace {

using ::testing::HasSubstr;

TEST(StoredObject, TheFirstAnswerPinsIt) {
  StoredObject object("shard-00000001-00000", 100);
  EXPECT_EQ(object.etag(), "");
  EXPECT_TRUE(object.Take("\"a\"", 100).ok());
  EXPECT_EQ(object.etag(), "\"a\"");
  EXPECT_TRUE(object.Take("\"a\"", 100).ok());
  const Status replaced = object.Take("\"b\"", 100);
  EXPECT_EQ(replaced.code(), Code::kCorrupt);
  EXPECT_THAT(replaced.text(), HasSubstr("\"a\""));
  EXPECT_THAT(replaced.text(), HasSubstr("\"b\""));
  EXPECT_EQ(object.etag(), "\"a\"");
}

TEST(StoredObject, AnotherSizeIsRefusedBeforeItIsPinned) {
  StoredObject object("shard-00000001-00000", 100);
  const Status status = object.Take("\"a\"", 99);
  EXPECT_EQ(status.code(), Code::kCorrupt);
  EXPECT_THAT(status.text(), HasSubstr("99 bytes"));
  EXPECT_EQ(object.etag(), "");
}

TEST(StoredObject, AServerWithoutETagsPinsTheSize) {
  StoredObject object("index-00000001");
  EXPECT_FALSE(object.bytes().has_value());
  EXPECT_TRUE(object.Take("", std::nullopt).ok());
  EXPECT_TRUE(object.Take("", 7).ok());
  EXPECT_EQ(object.bytes(), 7U);
  EXPECT_FALSE(object.Take("", 8).ok());
}

// As of Apache for a file that has changed within a second, and of nginx where it compresses.
TEST(StoredObject, AWeakETagIsComparedAndNoCondition) {
  StoredObject object("shard-00000001-00000");
  ASSERT_TRUE(object.Take("W/\"a\"", 100).ok());
  EXPECT_EQ(object.condition(), "");
  EXPECT_TRUE(object.Take("\"a\"", 100).ok());
  EXPECT_EQ(object.condition(), "");
  EXPECT_EQ(object.etag(), "W/\"a\"");
  EXPECT_EQ(object.Take("W/\"b\"", 100).code(), Code::kCorrupt);

  StoredObject strong("shard-00000001-00000", 100, "\"a\"");
  EXPECT_EQ(strong.condition(), "\"a\"");
  EXPECT_TRUE(strong.Take("W/\"a\"", 100).ok());
  EXPECT_EQ(strong.condition(), "");

  const StoredObject again("tar", 100, object.etag());
  EXPECT_EQ(again.condition(), "");
}

TEST(StoredObject, ThePinnedVersionIsAskedForOnceItIsWanted) {
  StoredObject object("shard-00000001-00000");
  EXPECT_FALSE(object.WantPinnedVersion());
  ASSERT_TRUE(object.Take("\"a\"", 100, "null").ok());
  EXPECT_FALSE(object.WantPinnedVersion());
  ASSERT_TRUE(object.Take("\"a\"", 100, "v1").ok());
  EXPECT_EQ(object.wanted_version(), "");
  EXPECT_FALSE(object.Take("\"b\"", 100, "v2").ok());
  EXPECT_TRUE(object.WantPinnedVersion());
  EXPECT_EQ(object.wanted_version(), "v1");
}

}  // namespace
}  // namespace augur
