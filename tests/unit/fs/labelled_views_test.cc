// SPDX-License-Identifier: Apache-2.0
// Views whose files have a label: what is in them, and what a reload makes of their nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fs/lasting_views.h"
#include "fs/node_numbers.h"
#include "fs/tree_changes.h"
#include "unit/fs/views_fixture.h"

namespace augur {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kSpec = "pt+item=pair";

class LabelledViewsTest : public ViewsFixture {
 protected:
  // Each test has a store of its own.
  void SetUp() override {}

  // The next generation: these files beside the others. All are one image, and so one record.
  void Add(const std::vector<std::string>& paths, WriteMode mode) {
    auto writer = StoreWriter::Begin(store_path(), {.mode = mode});
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    const std::vector<std::byte> file = Png(RandomImage(kSide, 1));
    for (const std::string& path : paths) {
      ASSERT_TRUE((*writer)->AddFile(path, {.mode = 0644}, ProbeImage(file), file).ok());
    }
    const auto summary = (*writer)->Commit();
    ASSERT_TRUE(summary.ok()) << summary.status().text();
  }

  FileSystemOptions Options() {
    return {.views = {.pool = decode_.get(), .bytes_max = kBudget, .root = {}, .lasting = lasting_.get()}};
  }

  void OpenFirst(const std::vector<std::string>& paths) {
    Add(paths, WriteMode::kCreate);
    auto pool = DecodePool::Start(2, 1);
    ASSERT_TRUE(pool.ok()) << pool.status().text();
    decode_ = std::move(pool).value();
    Open(nullptr, Options());
  }

  // The next daemon shows the newest generation. The one before is there still, or was removed.
  void Reload(bool is_there) {
    shards_->Drain();
    fs_.reset();
    const std::shared_ptr<const Store> before = store_;
    auto after = Store::Open(store_path(), {.direct = true});
    ASSERT_TRUE(after.ok()) << after.status().text();
    const auto changes = TreeComparison(*before, **after).Run(1000);
    ASSERT_TRUE(changes.ok()) << changes.status().text();
    const uint64_t entries = before->summary().entry_count;
    uint64_t next_number = entries;
    const std::vector<NumberRun> runs =
        NodeNumbers().RunsOfNext(entries, (*after)->summary().entry_count, changes->kept, &next_number);
    numbers_ = NodeNumbers(runs);
    store_ = *after;
    shards_before_ = std::move(shards_);
    shards_ = store_->files().MakeSource(store_, *engine_, ReadPurpose::kDemand, StoreFiles::NothingBefore);
    FileSystemOptions options = Options();
    options.numbers = &numbers_;
    options.sequence = 1;
    options.earlier = {
        {.number = 1, .sequence = 0, .store = is_there ? before : nullptr, .source = shards_before_.get()}};
    fs_ = std::make_unique<FileSystem>(store_, *shards_, cache_, statistics_, options);
  }

  // What the file says of its image.
  int32_t LabelOf(NodeId node) {
    const Result<std::string> file = ReadNow(node, 0, kReadBytesMax);
    EXPECT_TRUE(file.ok()) << file.status().text();
    const size_t at = file.ok() ? file->find("RtRJ") : std::string::npos;  // the end of the tensor, and an int
    if (at == std::string::npos) return INT32_MIN;
    int32_t label = 0;
    std::memcpy(&label, file->data() + at + 4, sizeof label);
    return label;
  }

  ViewFile FileAt(NodeId node, const std::string& path) {
    const Result<Entry> entry = store_->Find(path);
    EXPECT_TRUE(entry.ok()) << path;
    const Result<ViewFile> in_view = fs_->FileInView(PartsOf(node).view, static_cast<EntryNumber>(entry->number));
    EXPECT_TRUE(in_view.ok()) << in_view.status().text();
    return in_view.ok() ? *in_view : ViewFile();
  }

  // Zero, as the memory of a holder is.
  const std::unique_ptr<LastingViews> lasting_ = std::make_unique<LastingViews>();
  NodeNumbers numbers_;
  std::unique_ptr<ShardSource> shards_before_;
};

TEST_F(LabelledViewsTest, OneRecordHasTwoLabels) {
  OpenFirst({"a/1.png", "b/2.png"});
  const NodeId one = NodeOf(In(kSpec, "a/1.pt"));
  const NodeId other = NodeOf(In(kSpec, "b/2.pt"));
  EXPECT_EQ(LabelOf(one), 0);
  EXPECT_EQ(LabelOf(other), 1);
  EXPECT_FALSE(FileAt(one, "a/1.png").IsSame(FileAt(other, "b/2.png")));
  EXPECT_NE(FileAt(one, "a/1.png").hash, FileAt(other, "b/2.png").hash);
}

TEST_F(LabelledViewsTest, AnImageInNoClassIsAbsent) {
  OpenFirst({"train/a/1.png", "train/2.png", "extra/3.png", "4.png"});
  EXPECT_EQ(LabelOf(NodeOf(In(kSpec, "extra/3.pt"))), -1);
  const NodeId train = NodeOf(In(kSpec, "train"));
  EXPECT_EQ(fs_->Lookup(train, "2.pt").status().code(), Code::kNotFound);
  EXPECT_THAT(List(train), SizeIs(3)) << ". and .. and a";
  EXPECT_THAT(List(NodeOf(In(kSpec, ""))), Not(Contains(Key("4.pt"))));
  EXPECT_EQ(fs_->FindByPath(In(kSpec, "train/2.pt")).status().code(), Code::kNotFound);
  EXPECT_TRUE(fs_->FindByPath(In(kSpec, "train/a/1.pt")).ok());
  EXPECT_TRUE(fs_->FindByPath(In("pt", "train/2.pt")).ok());
}

TEST_F(LabelledViewsTest, AFileIsOfOneGeneration) {
  OpenFirst({"b/1.png", "c/2.png"});
  const NodeId folder = NodeOf(In(kSpec, "c"));
  const NodeId before = NodeOf(In(kSpec, "c/2.pt"));
  EXPECT_EQ(LabelOf(before), 1);
  Add({"a/0.png"}, WriteMode::kAppend);
  Reload(true);
  const NodeId now = NodeOf(In(kSpec, "c/2.pt"));
  EXPECT_NE(now, before);
  EXPECT_EQ(LabelOf(now), 2);
  EXPECT_EQ(LabelOf(before), 1);
  ASSERT_TRUE(fs_->GetAttributes(before).ok());
  EXPECT_EQ(fs_->GetAttributes(before)->node, before);
  // What is read ahead is of the generation that is shown.
  EXPECT_EQ(FileAt(now, "c/2.png").label, 2);
  const auto number = static_cast<EntryNumber>(store_->Find("c/2.png")->number);
  EXPECT_EQ(fs_->FileInView(PartsOf(before).view, number).status().code(), Code::kNotFound);
  // As a folder that was removed.
  EXPECT_EQ(fs_->Lookup(folder, "2.pt").status().code(), Code::kNotFound);
  EXPECT_THAT(List(folder), SizeIs(2)) << ". and ..";
}

TEST_F(LabelledViewsTest, AFileOfAGenerationThatIsGoneIsAnError) {
  OpenFirst({"b/1.png", "c/2.png"});
  const NodeId before = NodeOf(In(kSpec, "c/2.pt"));
  Add({"a/0.png"}, WriteMode::kAppend);
  Reload(false);
  EXPECT_EQ(ReadNow(before, 0, 10).status().code(), Code::kIo);
  EXPECT_EQ(LabelOf(NodeOf(In(kSpec, "c/2.pt"))), 2);
}

}  // namespace
}  // namespace augur
