// SPDX-License-Identifier: Apache-2.0
// Views with archives, without a mount: what waits for a table, and what has which node.
#include "fs/archive_views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "unit/fs/views_fixture.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

using Ask = FileSystem::Ask;

class ArchiveViewsTest : public ViewsFixture {
 protected:
  static constexpr uint64_t kTablesBytes = 1 << 20;

  void OpenWithArchives(uint64_t tables_bytes_max = kTablesBytes, std::optional<ViewSpec> root = std::nullopt,
                        ArchiveForesight* archives = nullptr, ReadObserver* observer = nullptr) {
    auto pool = DecodePool::Start(1, 1);
    ASSERT_TRUE(pool.ok()) << pool.status().text();
    decode_ = std::move(pool).value();
    Open(nullptr, {.observer = observer,
                   .archives = archives,
                   .views = {.pool = decode_.get(),
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

// Remembers which samples are asked for, and by whom.
class Listener final : public ReadObserver {
 public:
  void OnOpen(const ViewFile& /*file*/, uint32_t /*reader*/) override { ADD_FAILURE() << "nothing is opened"; }
  void OnRead(const ViewFile& file, uint32_t reader) override { reads.emplace_back(file, reader); }
  void OnBrought(const ViewFile& file) override { brought.push_back(file); }
  void OnReadToEnd(const ViewFile& /*file*/) override { ADD_FAILURE() << "no file has ended"; }
  void OnLoaded(const ViewFile& /*file*/, uint64_t /*block*/, std::span<const std::byte> /*bytes*/) override {}
  void OnRendered(const ViewFile& /*file*/, std::span<const std::byte> /*bytes*/, bool /*again*/) override {}

  std::vector<std::pair<ViewFile, uint32_t>> reads;
  std::vector<ViewFile> brought;
};

// By the signature of a PNG where a member's bytes begin.
std::vector<uint64_t> ImagesOfTar(const std::string& bytes) {
  std::vector<uint64_t> begins;
  for (uint64_t at = 0; at < bytes.size(); at += 512) {
    if (bytes.compare(at, 8, "\x89PNG\r\n\x1a\n") == 0) begins.push_back(at);
  }
  return begins;
}

TEST_F(ArchiveViewsTest, AReadTellsWhichSampleItAsksFor) {
  constexpr uint64_t kPage = 4096;
  constexpr uint64_t kTarHeader = 512;
  Listener listener;
  ArchiveForesight foresight(listener, statistics_);
  OpenWithArchives(kTablesBytes, std::nullopt, &foresight);
  const Result<NodeAttributes> archive = LookupNow(NodeOf(In("tar+shards=1+shuffle=3", "")), "images-000000.tar");
  ASSERT_TRUE(archive.ok()) << archive.status().text();
  const std::string whole = *ReadNow(archive->node, 0, kReadBytesMax);
  const std::vector<uint64_t> begins = ImagesOfTar(whole);
  ASSERT_EQ(begins.size(), size_t{kImages});
  Order samples;
  for (const uint32_t number : {7, 2, 19, 0}) {
    listener.reads.clear();
    listener.brought.clear();
    std::promise<bool> done;
    const uint64_t begin = begins[number] / kPage * kPage;
    const uint64_t bytes = std::stoul(whole.substr(begins[number] - kTarHeader + 124, 11), nullptr, 8);
    fs_->Read(
        archive->node, begin, (begins[number] + bytes + kPage - 1) / kPage * kPage - begin,
        [&](const Result<ReadReply>& reply) { done.set_value(reply.ok()); }, 77 + number);
    EXPECT_TRUE(done.get_future().get());
    ASSERT_EQ(listener.reads.size(), 1U) << number;
    const auto& [file, reader] = listener.reads[0];
    ASSERT_EQ(listener.brought.size(), 1U) << number;
    EXPECT_TRUE(listener.brought[0].IsSame(file));
    EXPECT_EQ(reader, 77 + number);
    EXPECT_TRUE(file.in_archive);
    EXPECT_EQ(file.view, PartsOf(archive->node).view);
    const Result<std::string> image = ReadNow(NodeOf(*store_->PathOf(file.entry.number)), 0, file.size);
    EXPECT_EQ(*image, whole.substr(begins[number], file.size)) << "it is that image";
    EXPECT_TRUE(fs_->FileInView(file.view, static_cast<EntryNumber>(file.entry.number))->IsSame(file));
    samples.push_back(static_cast<EntryNumber>(file.entry.number));
  }
  ASSERT_EQ(foresight.Lists().size(), 1U);
  const SampleList& list = *foresight.Lists()[0];
  EXPECT_EQ(list.name(), "tar+shards=1+shuffle=3 of images");
  EXPECT_THAT(samples, ElementsAre(list.files()[7], list.files()[2], list.files()[19], list.files()[0]));
}

// A chunk of one image is a file of its own, and the page cache has it once its last bytes were asked for.
class ChunkOfOneImageTest : public ArchiveViewsTest {
 protected:
  void ReadOne(const std::optional<ViewSpec>& root) {
    OpenWithArchives(kTablesBytes, root, &foresight_, &listener_);
    NodeId node = root ? kRootNode : NodeOf(In("zarr+crop=8", ""));
    for (const char* name : {"images.zarr", "images", "c.3.0.0.0"}) {
      const Result<NodeAttributes> found = LookupNow(node, name);
      ASSERT_TRUE(found.ok()) << name << ": " << found.status().text();
      node = found->node;
    }
    constexpr uint64_t kBytes = uint64_t{8} * 8 * 3;
    EXPECT_EQ(ReadNow(node, 0, 100)->size(), 100U);
    ASSERT_EQ(listener_.reads.size(), 1U);
    EXPECT_TRUE(listener_.brought.empty());
    EXPECT_EQ(ReadNow(node, 100, 4096)->size(), kBytes - 100);
    ASSERT_EQ(listener_.reads.size(), 1U);
    ASSERT_EQ(listener_.brought.size(), 1U);
    const ViewFile& file = listener_.brought[0];
    EXPECT_TRUE(file.IsSame(listener_.reads[0].first));
    EXPECT_EQ(fs_->Archived(file.view), &foresight_);
    EXPECT_TRUE(fs_->FileInView(file.view, static_cast<EntryNumber>(file.entry.number))->IsSame(file))
        << "as an order's";
  }

  Listener listener_;
  ArchiveForesight foresight_{listener_, statistics_};
};

TEST_F(ChunkOfOneImageTest, AReadTellsTheImage) { ReadOne({}); }
TEST_F(ChunkOfOneImageTest, AReadTellsTheImageOfTheArchivesWhereTheRootHasThem) {
  ReadOne(ParseViewSpec("zarr+crop=8").value());
}

TEST_F(ArchiveViewsTest, WhatIsReadAheadOfAnArchive) {
  Listener listener;
  ArchiveForesight foresight(listener, statistics_);
  OpenWithArchives(kTablesBytes, std::nullopt, &foresight);
  const Result<NodeAttributes> archive = LookupNow(NodeOf(In("tar+shards=1", "")), "images-000000.tar");
  ASSERT_TRUE(archive.ok()) << archive.status().text();
  const uint32_t view = PartsOf(archive->node).view;
  EXPECT_EQ(fs_->Archived(view), &foresight);
  EXPECT_EQ(fs_->Archived(PartsOf(NodeOf(In("npy", ""))).view), nullptr);
  EXPECT_EQ(fs_->Archived(0), nullptr);
  EXPECT_EQ(fs_->FileInView(view, static_cast<EntryNumber>(PartsOf(NodeOf("notes.txt")).entry)).status().code(),
            Code::kNotFound);
  const auto image = static_cast<EntryNumber>(PartsOf(NodeOf("images/107.png")).entry);
  EXPECT_THAT(foresight.WithNeighbours(view, {image}, 0).files, ElementsAre(image)) << "nobody has read the archive";
  (void)ReadNow(archive->node, 0, 4096);
  const Order with = foresight.WithNeighbours(view, {image}, 0).files;
  EXPECT_EQ(with.back(), image);
  EXPECT_GT(with.size(), 1U) << "members of a tar share pages";
}

}  // namespace
}  // namespace augur
