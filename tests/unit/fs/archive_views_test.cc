// SPDX-License-Identifier: Apache-2.0
// Views with archives, without a mount: what waits for a table, and what has which node.
#include "fs/archive_views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <set>
#include <string>

#include "unit/fs/views_fixture.h"

namespace augur {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

using Ask = FileSystem::Ask;

class ArchiveViewsTest : public ViewsFixture {
 protected:
  static constexpr uint64_t kTablesBytes = 1 << 20;

  void OpenWithArchives(uint64_t tables_bytes_max = kTablesBytes, std::optional<ViewSpec> root = std::nullopt) {
    auto pool = DecodePool::Start(1, 1);
    ASSERT_TRUE(pool.ok()) << pool.status().text();
    decode_ = std::move(pool).value();
    Open(nullptr, {.views = {.pool = decode_.get(),
                             .bytes_max = kBudget,
                             .archive_tables_bytes_max = tables_bytes_max,
                             .gathered_reads_max = 2,
                             .root = root}});
  }

  // As a handler of requests does it.
  template <typename Call>
  auto WhenReady(NodeId node, Ask ask, const std::string& name, const Call& call) -> decltype(call()) {
    std::shared_ptr<const void> pin;
    if (fs_->IsReady(node, ask, name, &pin)) return call();
    std::promise<decltype(call())> promise;
    fs_->Prepare(node, ask, name, [&] { promise.set_value(call()); });
    return promise.get_future().get();
  }

  Result<NodeAttributes> LookupNow(NodeId folder, const std::string& name) {
    return WhenReady(folder, Ask::kName, name, [&] { return fs_->Lookup(folder, name); });
  }

  std::set<std::string> NamesIn(NodeId folder) {
    std::set<std::string> names;
    const Status status = WhenReady(folder, Ask::kItems, "", [&] {
      return fs_->ReadDirectory(folder, 2, [&](const DirectoryItem& item) {
        names.insert(std::string(item.name));
        return true;
      });
    });
    EXPECT_TRUE(status.ok()) << status.text();
    return names;
  }
};

TEST_F(ArchiveViewsTest, ALookUpWaitsForItsTable) {
  OpenWithArchives();
  const NodeId view = NodeOf(In("tar+shards=2", ""));
  std::shared_ptr<const void> pin;
  EXPECT_TRUE(fs_->IsReady(view, Ask::kName, "images", &pin)) << "a folder needs none";
  EXPECT_TRUE(fs_->IsReady(view, Ask::kName, "none-000000.tar", &pin)) << "nor does a name that is none";
  EXPECT_FALSE(fs_->IsReady(view, Ask::kName, "images-000000.tar", &pin));
  EXPECT_EQ(fs_->Lookup(view, "images-000000.tar").status().code(), Code::kBusy);
  const Result<NodeAttributes> archive = LookupNow(view, "images-000001.tar");
  ASSERT_TRUE(archive.ok()) << archive.status().text();
  EXPECT_FALSE(archive->lasting);
  EXPECT_TRUE(fs_->IsReady(view, Ask::kName, "images-000000.tar", &pin));
  EXPECT_EQ(LookupNow(view, "images-000002.tar").status().code(), Code::kNotFound);
  const Result<std::string> bytes = ReadNow(archive->node, 0, kReadBytesMax);
  ASSERT_TRUE(bytes.ok()) << bytes.status().text();
  EXPECT_EQ(bytes->size(), archive->size);
  EXPECT_TRUE(bytes->starts_with("110.png"));
  EXPECT_EQ(*ReadNow(archive->node, 512, 8), bytes->substr(512, 8));
  EXPECT_EQ(*ReadNow(archive->node, archive->size, 8), "");
}

TEST_F(ArchiveViewsTest, ImagesAreNotThere) {
  OpenWithArchives();
  const NodeId view = NodeOf(In("tar+shards=1", ""));
  EXPECT_THAT(NamesIn(view), UnorderedElementsAre("images", "all-000000.tar", "images-000000.tar", "_info.json"));
  EXPECT_THAT(NamesIn(NodeOf(In("tar+shards=1", "images"))), UnorderedElementsAre());
  EXPECT_EQ(LookupNow(view, "broken.png").status().code(), Code::kNotFound);
  EXPECT_EQ(LookupNow(view, "notes.txt").status().code(), Code::kNotFound);
}

TEST_F(ArchiveViewsTest, NamesOfArchivesAreNotRemembered) {
  OpenWithArchives();
  EXPECT_TRUE(fs_->RemembersMissing(kRootNode));
  EXPECT_TRUE(fs_->RemembersMissing(NodeOf(".augur/views")));
  EXPECT_TRUE(fs_->RemembersMissing(NodeOf(In("npy", ""))));
  EXPECT_FALSE(fs_->RemembersMissing(NodeOf(In("tar", ""))));
  EXPECT_FALSE(fs_->RemembersMissing(NodeOf(In("tar", "images"))));
}

TEST_F(ArchiveViewsTest, ATableThatDoesNotFitIsAFailureWithTheCure) {
  OpenWithArchives(100);
  const Result<NodeAttributes> archive = LookupNow(NodeOf(In("tar", "")), "images-000000.tar");
  EXPECT_EQ(archive.status().code(), Code::kNoSpace);
  EXPECT_THAT(archive.status().text(), HasSubstr("raise memory="));
}

TEST_F(ArchiveViewsTest, NodesOfOthersAreNone) {
  OpenWithArchives();
  const Result<NodeAttributes> archive = LookupNow(NodeOf(In("tar+shards=1", "")), "images-000000.tar");
  ASSERT_TRUE(archive.ok()) << archive.status().text();
  const Node parts = PartsOf(archive->node);
  const std::optional<ArchiveNode> node = ArchiveNode::FromEntry(parts.entry);
  ASSERT_TRUE(node);
  const uint32_t npy = PartsOf(NodeOf(In("npy", ""))).view;
  for (const Node wrong : {Node{.view = 0, .entry = parts.entry}, Node{.view = npy, .entry = parts.entry},
                           Node{.view = ViewTable::kRootNumber, .entry = parts.entry},
                           Node{.view = parts.view, .entry = ArchiveNode{.folder = node->folder, .file = 1}.entry()},
                           Node{.view = parts.view, .entry = ArchiveNode{.folder = 1'000'000, .file = 0}.entry()},
                           Node{.view = parts.view, .entry = PartsOf(NodeOf("notes.txt")).entry}}) {
    const auto found = WhenReady(wrong.id(), Ask::kAttributes, "", [&] { return fs_->GetAttributes(wrong.id()); });
    EXPECT_EQ(found.status().code(), Code::kNotFound) << wrong.view << " " << wrong.entry;
  }
}

// Tables that do not fit together go, and are made again.
TEST_F(ArchiveViewsTest, TablesAreMadeAgain) {
  OpenWithArchives(4000);
  const NodeId view = NodeOf(In("tar+shards=1", ""));
  std::vector<NodeAttributes> archives;
  for (const char* spec :
       {"tar+shards=1", "tar+shards=2", "tar+shards=3", "tar+shards=4", "tar+shards=5", "tar+shards=6"}) {
    const Result<NodeAttributes> archive = LookupNow(NodeOf(In(spec, "")), "images-000000.tar");
    ASSERT_TRUE(archive.ok()) << archive.status().text();
    archives.push_back(*archive);
  }
  std::shared_ptr<const void> pin;
  EXPECT_FALSE(fs_->IsReady(view, Ask::kName, "images-000000.tar", &pin));
  for (const NodeAttributes& archive : archives) {
    const Result<std::string> bytes = ReadNow(archive.node, 0, kReadBytesMax);
    ASSERT_TRUE(bytes.ok()) << bytes.status().text();
    EXPECT_EQ(bytes->size(), archive.size);
  }
}

}  // namespace
}  // namespace augur
