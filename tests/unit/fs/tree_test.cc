// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <optional>

#include "fs/node.h"
#include "unit/fs/store_fixture.h"

namespace augur {
namespace {

using ::testing::ElementsAre;

class TreeTest : public StoreFixture {
 protected:
  void SetUp() override {
    Write([](StoreWriter& writer) {
      const Attributes file{.mode = 0640, .mtime_sec = -5, .mtime_nsec = 999'999'999};
      ASSERT_TRUE(writer.AddDirectory("b", {.mode = 0700, .mtime_sec = 7}).ok());
      ASSERT_TRUE(writer.AddFile("b/\xff\x01", file, {}, AsBytes("raw")).ok());
      ASSERT_TRUE(writer.AddFile("b/Z", file, {}, AsBytes("capital")).ok());
      ASSERT_TRUE(writer.AddFile("b/a", file, {}, {}).ok());
      ASSERT_TRUE(writer.AddDirectory("empty", {.mode = 0755}).ok());
      ASSERT_TRUE(writer.AddSymlink("link", {.mode = 0777}, "../out/of the tree").ok());
    });
  }

  std::vector<std::string> List(NodeId node, uint64_t offset = 0) {
    std::vector<std::string> names;
    const Status status = fs_->ReadDirectory(node, offset, [&](const DirectoryItem& item) {
      names.emplace_back(item.name);
      return true;
    });
    EXPECT_TRUE(status.ok()) << status.text();
    return names;
  }
};

// T1, T6: names byte for byte, in the order of unsigned bytes.
TEST_F(TreeTest, ListsNamesInByteOrder) {
  Open();
  EXPECT_THAT(List(kRootNode), ElementsAre(".", "..", "b", "empty", "link"));
  EXPECT_THAT(List(NodeOf("b")), ElementsAre(".", "..", "Z", "a", "\xff\x01"));
  EXPECT_THAT(List(NodeOf("empty")), ElementsAre(".", ".."));
}

// T2, T3, T4: attributes are those that were packed, but for owner and umask.
TEST_F(TreeTest, GivesAttributes) {
  Open(nullptr, {.uid = 12, .gid = 34, .umask = 0027});
  const auto file = fs_->GetAttributes(NodeOf("b/Z"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->mode, S_IFREG | 0640u);
  EXPECT_EQ(file->size, 7u);
  EXPECT_EQ(file->mtime_sec, -5);
  EXPECT_EQ(file->mtime_nsec, 999'999'999u);
  EXPECT_EQ(file->uid, 12u);
  EXPECT_EQ(file->gid, 34u);
  const auto folder = fs_->GetAttributes(NodeOf("empty"));
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(folder->mode, S_IFDIR | 0750u);
  const auto link = fs_->GetAttributes(NodeOf("link"));
  ASSERT_TRUE(link.ok());
  EXPECT_EQ(link->mode, S_IFLNK | 0777u);
  const auto target = fs_->ReadLink(NodeOf("link"));
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(*target, "../out/of the tree");
}

// T6: a listing that is broken off anywhere goes on from there, once and exactly.
TEST_F(TreeTest, ListingGoesOnFromAnyOffset) {
  Open();
  const NodeId node = NodeOf("b");
  const auto whole = List(node);
  uint64_t offset = 0;
  std::vector<std::string> one_by_one;
  for (size_t i = 0; i < whole.size(); ++i) {
    std::optional<uint64_t> next;
    const Status status = fs_->ReadDirectory(node, offset, [&](const DirectoryItem& item) {
      if (next) return false;
      one_by_one.emplace_back(item.name);
      next = item.next_offset;
      return true;
    });
    ASSERT_TRUE(status.ok());
    ASSERT_TRUE(next.has_value());
    offset = *next;
  }
  EXPECT_EQ(one_by_one, whole);
  EXPECT_THAT(List(node, offset), ElementsAre());
  EXPECT_THAT(List(node, uint64_t{1} << 60), ElementsAre());
}

TEST_F(TreeTest, RefusesWhatIsNotThere) {
  Open();
  EXPECT_EQ(fs_->Lookup(kRootNode, "c").status().code(), Code::kNotFound);
  EXPECT_EQ(fs_->Lookup(kRootNode, "").status().code(), Code::kNotFound);
  EXPECT_EQ(fs_->Lookup(NodeOf("b/Z"), "x").status().code(), Code::kInvalid);
  EXPECT_EQ(fs_->ReadLink(NodeOf("b")).status().code(), Code::kInvalid);
  EXPECT_EQ(ReadNow(NodeOf("b"), 0, 1).status().code(), Code::kInvalid);
  for (const NodeId bad : {NodeId{0}, NodeId{100}, NodeId{1} << 40, (NodeId{1} << 40) + 1, ~NodeId{0}}) {
    EXPECT_EQ(fs_->GetAttributes(bad).status().code(), Code::kNotFound) << bad;
    EXPECT_EQ(ReadNow(bad, 0, 1).status().code(), Code::kNotFound) << bad;
  }
}

// T5: node numbers are a function of the store.
TEST_F(TreeTest, NodesAreTheSameInEveryMount) {
  Open();
  const NodeId first = NodeOf("b/a");
  fs_.reset();
  Open();
  EXPECT_EQ(NodeOf("b/a"), first);
  const std::optional<Node> root = Node::FromId(kRootNode);
  if (!root) FAIL();
  EXPECT_EQ(root->entry, 0u);
  EXPECT_EQ((Node{.view = 0, .entry = 0}.id()), kRootNode);
  EXPECT_EQ((Node{.view = 3, .entry = 9}.id()), (NodeId{3} << 40) + 10);
}

}  // namespace
}  // namespace augur
