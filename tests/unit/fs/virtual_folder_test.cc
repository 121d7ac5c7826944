// SPDX-License-Identifier: Apache-2.0
#include "fs/virtual_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "fs/node.h"
#include "unit/fs/store_fixture.h"

namespace augur {
namespace {

using ::testing::ElementsAre;

// A store with a .augur of its own, and a mount with two virtual files.
class VirtualFolderTest : public StoreFixture {
 protected:
  void SetUp() override {
    Write([](StoreWriter& writer) {
      ASSERT_TRUE(writer.AddDirectory(".augur", {.mode = 0755}).ok());
      ASSERT_TRUE(writer.AddFile(".augur/own", {.mode = 0644}, {}, AsBytes("own")).ok());
      ASSERT_TRUE(writer.AddDirectory("a", {.mode = 0755}).ok());
      ASSERT_TRUE(writer.AddDirectory("a/.augur", {.mode = 0755}).ok());
      ASSERT_TRUE(writer.AddFile("z", {.mode = 0644}, {}, AsBytes("z")).ok());
    });
    Open(nullptr, {.uid = 12, .gid = 34});
  }

  void AddFiles() {
    fs_->AddVirtualFile("count", [this] { return "number " + std::to_string(++made_); });
    fs_->AddVirtualFile("empty", [] { return std::string(); });
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

  NodeAttributes Find(NodeId parent, std::string_view name) {
    const Result<NodeAttributes> found = fs_->Lookup(parent, name);
    EXPECT_TRUE(found.ok()) << name << ": " << found.status().text();
    return found.ok() ? *found : NodeAttributes{};
  }

  std::atomic<int> made_ = 0;
};

// V1: found by name, in no listing.
TEST_F(VirtualFolderTest, IsFoundByNameAndNotListed) {
  AddFiles();
  const NodeAttributes folder = Find(kRootNode, ".augur");
  EXPECT_EQ(folder.mode, S_IFDIR | 0555u);
  EXPECT_EQ(folder.uid, 12u);
  EXPECT_EQ(folder.gid, 34u);
  EXPECT_TRUE(folder.lasting);
  EXPECT_EQ(Find(kRootNode, ".augur").node, folder.node);
  EXPECT_THAT(List(kRootNode), ElementsAre(".", "..", "a", "z"));
  EXPECT_THAT(List(folder.node), ElementsAre(".", "..", "count", "empty"));
  EXPECT_THAT(List(folder.node, 3), ElementsAre("empty"));
  EXPECT_THAT(List(folder.node, 4), ElementsAre());
}

// V5: the store's own is hidden in the root, and nowhere else.
TEST_F(VirtualFolderTest, HidesTheStoresOwn) {
  EXPECT_THAT(List(kRootNode), ElementsAre(".", "..", ".augur", "a", "z"));
  EXPECT_FALSE(fs_->HidesOwnFolder());
  AddFiles();
  EXPECT_TRUE(fs_->HidesOwnFolder());
  EXPECT_EQ(fs_->Lookup(NodeOf(".augur"), "own").status().code(), Code::kNotFound);
  EXPECT_THAT(List(NodeOf("a")), ElementsAre(".", "..", ".augur"));
  // Offsets of what is left are those that it has without the virtual folder.
  uint64_t offset = 0;
  EXPECT_TRUE(fs_->ReadDirectory(kRootNode, 0,
                                 [&](const DirectoryItem& item) {
                                   if (item.name == "a") offset = item.next_offset;
                                   return true;
                                 })
                  .ok());
  EXPECT_EQ(offset, 4u);
  EXPECT_THAT(List(kRootNode, 4), ElementsAre("z"));
}

// V2: each lookup gives a node of its own, with bytes that stay.
TEST_F(VirtualFolderTest, EachLookupIsASnapshot) {
  AddFiles();
  const NodeId folder = NodeOf(".augur");
  const NodeAttributes first = Find(folder, "count");
  const NodeAttributes second = Find(folder, "count");
  EXPECT_NE(first.node, second.node);
  EXPECT_EQ(first.mode, S_IFREG | 0444u);
  EXPECT_EQ(first.size, 8u);
  EXPECT_FALSE(first.lasting);
  EXPECT_EQ(*ReadNow(first.node, 0, 100), "number 1");
  EXPECT_EQ(*ReadNow(second.node, 0, 100), "number 2");
  EXPECT_EQ(*ReadNow(first.node, 7, 100), "1");
  EXPECT_EQ(*ReadNow(first.node, 8, 100), "");
  EXPECT_EQ(*ReadNow(first.node, uint64_t{1} << 40, 100), "");
  EXPECT_EQ(fs_->GetAttributes(first.node)->size, 8u);
  EXPECT_EQ(*ReadNow(Find(folder, "empty").node, 0, 100), "");
  // A folder is no file, a file no folder, and what is not there is not found.
  EXPECT_EQ(ReadNow(folder, 0, 1).status().code(), Code::kInvalid);
  EXPECT_EQ(fs_->Lookup(first.node, "x").status().code(), Code::kInvalid);
  EXPECT_EQ(fs_->ReadDirectory(first.node, 0, [](const DirectoryItem&) { return true; }).code(), Code::kInvalid);
  EXPECT_EQ(fs_->Lookup(folder, "missing").status().code(), Code::kNotFound);
}

// V3: the kernel's FORGET frees it, and only it.
TEST_F(VirtualFolderTest, ForgottenSnapshotsAreGone) {
  AddFiles();
  const NodeId folder = NodeOf(".augur");
  const NodeId first = Find(folder, "count").node;
  const NodeId second = Find(folder, "count").node;
  EXPECT_EQ(fs_->live_snapshots(), 2u);
  fs_->Forget(first, 1);
  fs_->Forget(first, 1);  // no harm
  fs_->Forget(folder, 1);
  fs_->Forget(kRootNode, 1);
  EXPECT_EQ(fs_->live_snapshots(), 1u);
  EXPECT_EQ(fs_->GetAttributes(first).status().code(), Code::kNotFound);
  EXPECT_EQ(ReadNow(first, 0, 1).status().code(), Code::kNotFound);
  EXPECT_EQ(*ReadNow(second, 0, 100), "number 2");
  fs_->Forget(second, 1);
  EXPECT_EQ(fs_->live_snapshots(), 0u);
}

TEST_F(VirtualFolderTest, BytesOfAReadOutliveTheNode) {
  AddFiles();
  const NodeId node = Find(NodeOf(".augur"), "count").node;
  ReadReply kept;
  fs_->Read(node, 0, 100, [&](Result<ReadReply> reply) {
    if (reply.ok()) kept = std::move(reply).value();
  });
  ASSERT_EQ(kept.pieces.size(), 1u);
  fs_->Forget(node, 1);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(kept.pieces[0].data()), kept.pieces[0].size()), "number 1");
}

// V4: bounded, each file by itself: the oldest goes for one more.
TEST_F(VirtualFolderTest, TheOldestSnapshotGoesForOneMore) {
  AddFiles();
  const NodeId folder = NodeOf(".augur");
  const NodeId other = Find(folder, "empty").node;
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < VirtualFolder::kLiveMax + 2; ++i) nodes.push_back(Find(folder, "count").node);
  EXPECT_EQ(fs_->live_snapshots(), VirtualFolder::kLiveMax + 1);
  EXPECT_EQ(ReadNow(nodes[0], 0, 1).status().code(), Code::kNotFound);
  EXPECT_EQ(fs_->GetAttributes(nodes[1]).status().code(), Code::kNotFound);
  EXPECT_EQ(*ReadNow(nodes[2], 0, 100), "number 3");
  EXPECT_TRUE(ReadNow(other, 0, 1).ok());
  for (const NodeId node : nodes) fs_->Forget(node, 1);  // those that are gone, too
  EXPECT_EQ(fs_->live_snapshots(), 1u);
}

// V4: who keeps many loses his own, and nobody else's.
TEST_F(VirtualFolderTest, TheUserWithTheMostSnapshotsLosesOne) {
  AddFiles();
  const NodeId folder = NodeOf(".augur");
  const NodeId victim = fs_->Lookup(folder, "count", 5)->node;
  std::vector<NodeId> many;
  for (size_t i = 0; i < 3 * VirtualFolder::kLiveMax; ++i) many.push_back(fs_->Lookup(folder, "count", 7)->node);
  EXPECT_EQ(*ReadNow(victim, 0, 100), "number 1");
  const NodeId late = fs_->Lookup(folder, "count", 6)->node;
  for (size_t i = 0; i < VirtualFolder::kLiveMax; ++i) ASSERT_TRUE(fs_->Lookup(folder, "count", 7).ok());
  EXPECT_TRUE(ReadNow(victim, 0, 100).ok());
  EXPECT_TRUE(ReadNow(late, 0, 100).ok());
  EXPECT_EQ(fs_->live_snapshots(), VirtualFolder::kLiveMax);
}

TEST_F(VirtualFolderTest, NumbersAreNoNodesOfTheStore) {
  AddFiles();
  const NodeId folder = NodeOf(".augur");
  const Node file = Node::FromId(Find(folder, "count").node).value_or(Node());
  EXPECT_EQ(file.view, Node::kVirtualView);
  EXPECT_NE(file.entry, 0u);
  EXPECT_EQ(Node::FromId(folder).value_or(Node()).view, Node::kVirtualView);
  // Those that a listing shows are numbers, and no nodes.
  EXPECT_TRUE(fs_->ReadDirectory(folder, 2,
                                 [&](const DirectoryItem& item) {
                                   EXPECT_NE(item.attributes.node, 0u);
                                   EXPECT_FALSE(item.attributes.lasting);
                                   EXPECT_EQ(fs_->GetAttributes(item.attributes.node).status().code(), Code::kNotFound);
                                   return true;
                                 })
                  .ok());
}

TEST_F(VirtualFolderTest, ManyThreadsLookUpReadAndForget) {
  AddFiles();
  const NodeId folder = NodeOf(".augur");
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 2000; ++n) {
        const Result<NodeAttributes> found = fs_->Lookup(folder, "count");
        ASSERT_TRUE(found.ok());
        const Result<std::string> text = ReadNow(found->node, 0, 100);
        ASSERT_TRUE(text.ok());
        EXPECT_EQ(text->size(), found->size);
        fs_->Forget(found->node, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fs_->live_snapshots(), 0u);
  EXPECT_EQ(made_, 8000);
}

}  // namespace
}  // namespace augur
