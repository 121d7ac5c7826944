// SPDX-License-Identifier: Apache-2.0
#include "pack/walk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "pack/source_folder.h"
#include "unit/pack/scratch.h"

namespace augur {
namespace {

// "d path", "f path size", "l path -> target", "s path", "S path", "! path": all that a walk finds, in its order.
std::vector<std::string> WalkAll(const std::string& path, const PathFilter& filter = {}, const std::string& store = {},
                                 unsigned threads = 4) {
  const Scratch spool;
  const auto source = SourceFolder::Open(path);
  EXPECT_TRUE(source.ok());
  const WalkOptions options = {.threads = threads, .scratch_folder = spool.path()};
  if (!store.empty()) {
    EXPECT_TRUE((*source)->LeaveOut(store).ok());
  }
  auto walk = Walk::Start(**source, filter, options);
  EXPECT_TRUE(walk.ok());
  std::vector<std::string> all;
  Found found;
  uint64_t files = 0;
  uint64_t bytes = 0;
  for (;;) {
    const auto step = (*walk)->Next(true, &found);
    EXPECT_TRUE(step.ok());
    EXPECT_NE(*step, Walk::Step::kNotYet);
    if (!step.ok() || *step == Walk::Step::kEnd) break;
    switch (found.kind) {
      case FoundKind::kFolder: all.push_back("d " + found.path); break;
      case FoundKind::kFile:
        all.push_back("f " + found.path + " " + std::to_string(found.size));
        ++files;
        bytes += found.size;
        break;
      case FoundKind::kSymlink: all.push_back("l " + found.path + " -> " + found.text); break;
      case FoundKind::kSpecial: all.push_back("s " + found.path); break;
      case FoundKind::kStore: all.push_back("S " + found.path); break;
      case FoundKind::kTwice: all.push_back("2 " + found.path); break;
      case FoundKind::kProblem: all.push_back("! " + found.path + ": " + found.problem.text()); break;
    }
  }
  EXPECT_TRUE((*walk)->complete());
  EXPECT_EQ((*walk)->files(), files);
  EXPECT_EQ((*walk)->bytes(), bytes);
  return all;
}

TEST(Walk, IsInPathOrderAndFollowsNoLinks) {
  const Scratch tree;
  tree.Write("b/x", "12");
  tree.Write("b-/y", "123");  // '-' sorts below '/' as a byte, and yet behind b's children
  tree.Write("a", "1");
  tree.MakeFolder("empty");
  tree.Write("\xff\xfe", "");
  ASSERT_EQ(::symlink("b", (tree / "link").c_str()), 0);
  ASSERT_EQ(::symlink("/nowhere", (tree / "broken").c_str()), 0);
  ASSERT_EQ(::mkfifo((tree / "pipe").c_str(), 0600), 0);
  for (const unsigned threads : {1U, 2U, 8U}) {
    EXPECT_EQ(WalkAll(tree.path(), {}, {}, threads),
              (std::vector<std::string>{"f a 1", "d b", "f b/x 2", "d b-", "f b-/y 3", "l broken -> /nowhere",
                                        "d empty", "l link -> b", "s pipe", "f \xff\xfe 0"}));
  }
}

TEST(Walk, LeavesOutTheStoreAndWhatTheFilterSays) {
  const Scratch tree;
  tree.Write("keep/a.jpg", "1");
  tree.Write("keep/a.txt", "1");
  tree.Write("drop/a.jpg", "1");
  tree.Write("store/manifest", "1");
  const auto filter = PathFilter::Make({"*.jpg"}, {"drop"});
  ASSERT_TRUE(filter.ok());
  EXPECT_EQ(WalkAll(tree.path(), *filter, tree / "store"),
            (std::vector<std::string>{"d keep", "f keep/a.jpg 1", "S store"}));
}

TEST(Walk, AFolderThatCannotBeReadIsAProblemInItsPlace) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const Scratch tree;
  tree.Write("a/x", "1");
  tree.Write("b", "1");
  ASSERT_EQ(::chmod((tree / "a").c_str(), 0), 0);
  const auto all = WalkAll(tree.path());
  ASSERT_EQ(::chmod((tree / "a").c_str(), 0700), 0);
  EXPECT_EQ(all, (std::vector<std::string>{"d a", "! a: " + (tree / "a") + ": Permission denied", "f b 1"}));
}

TEST(Walk, DeepAndWideTreesComeWhole) {
  const Scratch tree;
  std::string deep = "d";
  for (int i = 0; i < 400; ++i) deep += "/d";
  tree.Write(deep + "/file", "1");
  std::vector<std::string> expected;
  for (std::string path = "d"; path.size() <= deep.size(); path += "/d") expected.push_back("d " + path);
  expected.push_back("f " + deep + "/file 1");
  for (int i = 1000; i < 3000; ++i) {
    tree.Write("w/" + std::to_string(i) + "/f", "");
  }
  expected.emplace_back("d w");
  for (int i = 1000; i < 3000; ++i) {
    expected.push_back("d w/" + std::to_string(i));
    expected.push_back("f w/" + std::to_string(i) + "/f 0");
  }
  EXPECT_EQ(WalkAll(tree.path()), expected);
}

// Listings are written to the spool by many threads while it is read: what is read before a listing is in its place
// must not be taken for it.
TEST(Walk, IsTheSameEveryTimeWhileItIsBeingListed) {
  const Scratch tree;
  std::vector<std::string> expected;
  for (int i = 100; i < 400; ++i) {
    const std::string folder = std::to_string(i);
    expected.push_back("d " + folder);
    for (int j = 0; j < 3; ++j) {
      tree.Write(folder + "/" + std::to_string(j), "");
      expected.push_back("f " + folder + "/" + std::to_string(j) + " 0");
    }
  }
  for (int round = 0; round < 50; ++round) ASSERT_EQ(WalkAll(tree.path(), {}, {}, 8), expected) << round;
}

TEST(Walk, APathOverTheLimitOfTheFormatIsAProblem) {
  const Scratch tree;
  const std::string name(250, 'n');
  int fd = ::open(tree.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::string path;
  for (int i = 0; i < 17; ++i) {  // 17 * 251 > 4095
    ASSERT_EQ(::mkdirat(fd, name.c_str(), 0700), 0);
    const int below = ::openat(fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::close(fd);
    fd = below;
  }
  ::close(fd);
  const auto all = WalkAll(tree.path());
  ASSERT_EQ(all.size(), 17u);
  EXPECT_EQ(all.back().substr(0, 2), "! ");
  EXPECT_NE(all.back().find("the path is over 4,095 bytes"), std::string::npos);
}

TEST(Walk, CanBeLeftInTheMiddle) {
  const Scratch tree;
  for (int i = 0; i < 500; ++i) tree.Write(std::to_string(i) + "/f", "");
  const Scratch spool;
  const auto source = SourceFolder::Open(tree.path());
  const PathFilter filter;
  auto walk = Walk::Start(**source, filter, {.threads = 4, .scratch_folder = spool.path()});
  ASSERT_TRUE(walk.ok());
  Found found;
  EXPECT_EQ(*(*walk)->Next(true, &found), Walk::Step::kFound);
}

}  // namespace
}  // namespace augur
