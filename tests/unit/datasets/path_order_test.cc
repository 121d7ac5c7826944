// SPDX-License-Identifier: Apache-2.0
#include "datasets/path_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "unit/datasets/order_fixture.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PathOrderTest : public OrderTest {
 protected:
  // By asking for the next file again and again, `piece` at a time.
  std::vector<std::string> StepThrough(TreeOrder order, size_t piece) const {
    const PathOrder path_order(opened_);
    Order files;
    EXPECT_TRUE(path_order.First(order, piece, &files).ok());
    for (size_t before = 0; before < files.size();) {
      before = files.size();
      const Status status = path_order.Next(files.back(), order, piece, &files);
      EXPECT_TRUE(status.ok()) << status.text();
      if (files.size() > opened_->summary().file_count) break;
    }
    return Paths(files);
  }

  std::vector<std::string> All() const {
    PathOrder path_order(opened_);
    const auto files = path_order.Files();
    EXPECT_TRUE(files.ok()) << files.status().text();
    return files.ok() ? Paths(**files) : std::vector<std::string>{};
  }
};

// FORMAT.md section 5: paths compared as bytes, with '/' below every other byte.
std::string PathKey(std::string path) {
  std::replace(path.begin(), path.end(), '/', '\0');
  return path;
}

TEST_F(PathOrderTest, CountsFilesOnly) {
  Make({"b.jpg", "a/x.jpg", "a/empty", "c/d/e/deep.jpg", "a.jpg"}, {{"a/link", "x.jpg"}, {"to_c", "c"}},
       {"hollow", "a/hollow"});
  EXPECT_THAT(All(), ElementsAre("a/empty", "a/x.jpg", "a.jpg", "b.jpg", "c/d/e/deep.jpg"));
}

TEST_F(PathOrderTest, NamesAreComparedAsUnsignedBytesFolderByFolder) {
  // '-' and '.' are below '/', 0xC3 is above 'z'.
  Make({"a/1", "a-b/1", "a.b", "\xC3\xA9/1", "z/1", "Z"});
  EXPECT_THAT(All(), ElementsAre("Z", "a/1", "a-b/1", "a.b", "z/1", "\xC3\xA9/1"));
}

TEST_F(PathOrderTest, FilesFirstIsTheOrderOfOsWalk) {
  Make({"m/2.jpg", "m/a/1.jpg", "m/z/9.jpg", "m/b.jpg", "n/c/d/1", "n/c/x", "top", "a_folder/1"}, {}, {"hollow"});
  const std::vector<std::string> wanted = {"top",       "a_folder/1", "m/2.jpg", "m/b.jpg",
                                           "m/a/1.jpg", "m/z/9.jpg",  "n/c/x",   "n/c/d/1"};
  EXPECT_EQ(StepThrough(TreeOrder::kFilesFirst, 1), wanted);
  EXPECT_EQ(StepThrough(TreeOrder::kFilesFirst, 3), wanted);
}

TEST_F(PathOrderTest, AStoreWithoutFilesHasNone) {
  Make({}, {{"link", "nowhere"}}, {"hollow"});
  EXPECT_TRUE(All().empty());
  Order files;
  EXPECT_TRUE(PathOrder(opened_).First(TreeOrder::kPath, 5, &files).ok());
  EXPECT_TRUE(files.empty());
}

TEST_F(PathOrderTest, AnEntryThatIsNotThereIsNotFound) {
  Make({"a"});
  Order files;
  EXPECT_EQ(PathOrder(opened_).Next(99, TreeOrder::kPath, 1, &files).code(), Code::kNotFound);
  EXPECT_TRUE(files.empty());
}

TEST_F(PathOrderTest, TheArrayIsSharedAsLongAsSomebodyHoldsItAndBounded) {
  Make({"a", "b", "c"});
  PathOrder path_order(opened_, 12);
  const auto one = path_order.Files();
  const auto two = path_order.Files();
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->get(), two->get());
  PathOrder small(opened_, 11);
  EXPECT_EQ(small.Files().status().code(), Code::kNoSpace);
  EXPECT_THAT(small.Files().status().text(), HasSubstr("give paths instead of indices"));
}

// A folder of a tree made by chance, for an order that is computed in another way than by the code under test.
struct Folder {
  std::set<std::string> files;
  std::map<std::string, Folder> folders;
};

void FilesFirst(const Folder& folder, const std::string& prefix, std::vector<std::string>* paths) {
  for (const std::string& name : folder.files) paths->push_back(prefix + name);
  for (const auto& [name, below] : folder.folders) FilesFirst(below, prefix + name + "/", paths);
}

class RandomTreeTest : public PathOrderTest, public ::testing::WithParamInterface<unsigned> {};

TEST_P(RandomTreeTest, BothOrdersAreThoseOfTheNames) {
  std::mt19937 random(GetParam());
  Folder root;
  std::vector<std::string> paths;
  for (int number = 0; number < 300; ++number) {
    Folder* at = &root;
    std::string path;
    for (unsigned depth = random() % 4; depth > 0; --depth) {
      const std::string name = "d" + std::string(1, "!-.0Az~"[random() % 7]) + std::to_string(random() % 3);
      at = &at->folders[name];
      path += name + "/";
    }
    const std::string name = "f" + std::string(1, "!-.0Az~"[random() % 7]) + std::to_string(random() % 100);
    if (at->files.insert(name).second) paths.push_back(path + name);
  }
  std::shuffle(paths.begin(), paths.end(), random);
  Make(paths);
  std::sort(paths.begin(), paths.end(),
            [](const std::string& a, const std::string& b) { return PathKey(a) < PathKey(b); });
  EXPECT_EQ(All(), paths);
  EXPECT_EQ(StepThrough(TreeOrder::kPath, 1), paths);
  EXPECT_EQ(StepThrough(TreeOrder::kPath, 7), paths);
  std::vector<std::string> files_first;
  FilesFirst(root, "", &files_first);
  EXPECT_EQ(StepThrough(TreeOrder::kFilesFirst, 1), files_first);
  EXPECT_EQ(StepThrough(TreeOrder::kFilesFirst, 1000), files_first);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTreeTest, ::testing::Values(1U, 2U, 3U, 4U, 5U));

}  // namespace
}  // namespace augur
