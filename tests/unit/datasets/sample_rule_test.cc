// SPDX-License-Identifier: Apache-2.0
#include "datasets/sample_rule.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "datasets/file_kinds.h"

namespace augur {
namespace {

bool Takes(std::string_view rule, std::string_view name) {
  const std::optional<SampleRule> found = SampleRule::Find(rule);
  EXPECT_TRUE(found.has_value()) << rule;
  return found && found->Takes(KindOfName(name));
}

TEST(SampleRuleTest, NamesAreFoundAgain) {
  std::set<std::string> names;
  for (const SampleRuleRow& row : SampleRuleRows()) {
    const SampleRule rule(&row, SampleRule::HasExtension(row) ? ".npy" : "");
    EXPECT_TRUE(names.insert(rule.name()).second) << rule.name();
    const std::optional<SampleRule> found = SampleRule::Find(rule.name());
    if (!found) {
      ADD_FAILURE() << rule.name();
      continue;
    }
    EXPECT_EQ(&found->row(), &row);
    EXPECT_EQ(found->name(), rule.name());
  }
  EXPECT_FALSE(SampleRule::Find("torchvision").has_value());
  EXPECT_FALSE(SampleRule::Find("sorted glob").has_value()) << "without its extension";
  EXPECT_FALSE(SampleRule::Find("torchvision ImageFolder .jpg").has_value());
}

TEST(SampleRuleTest, EndingsWithAndWithoutADot) {
  EXPECT_TRUE(Takes("torchvision ImageFolder", "a.JpEg"));
  EXPECT_TRUE(Takes("torchvision ImageFolder", ".jpg"));
  EXPECT_TRUE(Takes("torchvision ImageFolder", "a.tar.webp"));
  EXPECT_FALSE(Takes("torchvision ImageFolder", "awebp"));
  EXPECT_FALSE(Takes("torchvision ImageFolder", "a.jpg.txt"));
  EXPECT_FALSE(Takes("torchvision ImageFolder", "a.gif"));
  EXPECT_TRUE(Takes("torchvision ImageFolder up to 0.8", "awebp"));
  EXPECT_TRUE(Takes("torchvision ImageFolder up to 0.8", "a.xWEBP"));
  EXPECT_TRUE(Takes("Keras flow_from_directory", "photoJPG"));
  EXPECT_FALSE(Takes("Keras flow_from_directory", "photoJPGx"));
  EXPECT_FALSE(Takes("Keras flow_from_directory", "a.gif"));
  EXPECT_TRUE(Takes("Keras image_dataset_from_directory", "a.gif"));
}

TEST(SampleRuleTest, SplitextFindsNoExtensionBehindLeadingDots) {
  EXPECT_TRUE(Takes("timm ImageFolder", "a.PNG"));
  EXPECT_TRUE(Takes("timm ImageFolder", ".a.png"));
  EXPECT_FALSE(Takes("timm ImageFolder", ".png"));
  EXPECT_FALSE(Takes("timm ImageFolder", "..png"));
  EXPECT_FALSE(Takes("timm ImageFolder", "a.bmp"));
}

TEST(SampleRuleTest, AnExtensionOfItsOwn) {
  EXPECT_TRUE(Takes("sorted glob .npy", "a.npy"));
  EXPECT_FALSE(Takes("sorted glob .npy", "a.NPY"));
  EXPECT_FALSE(Takes("sorted glob .npy", ".a.npy")) << "hidden";
  EXPECT_TRUE(Takes("sorted rglob .npy", ".a.npy"));
  EXPECT_TRUE(Takes("torchvision DatasetFolder .npy", "a.NPY"));
  EXPECT_FALSE(Takes("torchvision DatasetFolder .npy", "anpy"));
}

TEST(FileKindsTest, MoreKindsThanNumbersLeaveThoseThatRulesName) {
  FileKinds kinds;
  for (int number = 0; number < 1000; ++number) kinds.Number("a." + std::to_string(number));
  const uint8_t jpeg = kinds.Number("a.jpeg");
  EXPECT_EQ(kinds.kinds()[jpeg].suffix, ".jpeg");
  EXPECT_EQ(kinds.kinds()[kinds.Number("a.5")].suffix, ".5");
  EXPECT_EQ(kinds.kinds()[kinds.Number("a.999")].suffix, "");
  EXPECT_TRUE(kinds.kinds()[kinds.Number(".a.999")].hidden);
  EXPECT_EQ(kinds.Find("b.jpeg"), jpeg);
  EXPECT_FALSE(kinds.Find("a.999").has_value());
}

}  // namespace
}  // namespace augur
