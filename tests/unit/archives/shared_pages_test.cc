// SPDX-License-Identifier: Apache-2.0
// Which images have a page in common, by the pieces of each page, and what has to be read for an order.
#include "archives/shared_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <variant>

#include "archives/archive_set.h"
#include "archives/touched_samples.h"
#include "base/page.h"
#include "unit/fs/store_fixture.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr ImageInfo kJpeg = {.width = 8, .height = 8, .kind = ImageKind::kJpeg, .channels = 3, .bit_depth = 8};
constexpr uint32_t kImages = 150;

class SharedPagesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto writer = StoreWriter::Begin(folder_ / "store", {});
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    std::mt19937_64 random(1);
    for (uint32_t i = 0; i < kImages; ++i) {
      const std::string bytes(kPageBytes + random() % 20'000, 'x');
      const std::string name = "class" + std::to_string(100 + i / 30) + "/" + std::string(i % 9 == 0 ? 150 : 3, 'n');
      ASSERT_TRUE(
          (*writer)->AddFile(name + std::to_string(1000 + i) + ".jpg", {.mode = 0644}, kJpeg, AsBytes(bytes)).ok());
    }
    ASSERT_TRUE((*writer)->Commit().ok());
    auto store = Store::Open(folder_ / "store");
    ASSERT_TRUE(store.ok()) << store.status().text();
    store_ = *store;
  }

  void MakeOf(const std::string& spec) {
    const auto set = ArchiveSet::Make(store_, 0, *ParseViewSpec(spec), 1 << 20);
    ASSERT_TRUE(set.ok()) << set.status().text();
    set_ = *set;
    const Result<Order> images = set_->Images();
    ASSERT_TRUE(images.ok()) << images.status().text();
    list_ = std::make_shared<const SampleList>(spec, "", *images);
    const Result<SharedPages> pages = SharedPages::Make(*set_, list_);
    ASSERT_TRUE(pages.ok()) << pages.status().text();
    pages_ = std::make_unique<const SharedPages>(*pages);
  }

  // The images with bytes in the pages of a range of a shard's file.
  std::set<EntryNumber> ImagesIn(uint32_t shard, uint64_t begin, uint64_t end) {
    const uint64_t from = begin / kPageBytes * kPageBytes;
    const auto pieces = set_->Pieces(shard, from, (end + kPageBytes - 1) / kPageBytes * kPageBytes - from);
    EXPECT_TRUE(pieces.ok()) << pieces.status().text();
    std::set<EntryNumber> images;
    for (const ArchivePiece& piece : *pieces) {
      const auto* const image = std::get_if<ImagePiece>(&piece);
      if (image != nullptr) images.insert(static_cast<EntryNumber>(image->image.number));
    }
    return images;
  }

  TemporaryFolder folder_;
  std::shared_ptr<const Store> store_;
  std::shared_ptr<const ArchiveSet> set_;
  std::shared_ptr<const SampleList> list_;
  std::unique_ptr<const SharedPages> pages_;
};

TEST_F(SharedPagesTest, WhatIsReadAlongWithASampleAlone) {
  for (const char* spec : {"tar+shards=1", "tar+shards=3+shuffle=5", "tfrecord+shards=2+shuffle=3"}) {
    MakeOf(spec);
    uint64_t neighbours = 0;
    const Status status = set_->ForEachSample([&](uint32_t place, const ArchiveSet::Span& span) {
      const EntryNumber image = list_->files()[place];
      const Order with = pages_->WithNeighbours({image}, 0).files;
      EXPECT_EQ(with.back(), image);
      const std::set<EntryNumber> wanted = ImagesIn(span.shard, span.image_begin, span.image_end);
      EXPECT_EQ(std::set<EntryNumber>(with.begin(), with.end()), wanted) << spec << " " << place;
      EXPECT_EQ(with.size(), wanted.size());
      neighbours += with.size() - 1;
    });
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_GT(neighbours, kImages / 2) << spec;
    EXPECT_LT(neighbours, 2 * kImages) << spec;
  }
}

TEST_F(SharedPagesTest, AllBytesBeginWhereTheSpansSay) {
  MakeOf("tfrecord+shards=2+shuffle=3");
  const Status status = set_->ForEachSample([&](uint32_t place, const ArchiveSet::Span& span) {
    const auto pieces = set_->Pieces(span.shard, span.begin, span.end - span.begin);
    ASSERT_TRUE(pieces.ok());
    const std::vector<TouchedSample> touched = TouchedSamples(*pieces, span.begin);
    ASSERT_EQ(touched.size(), 1U);
    EXPECT_EQ(touched[0].begin, span.image_begin);
    EXPECT_EQ(touched[0].end, span.image_end);
    EXPECT_EQ(touched[0].image.number, list_->files()[place]);
  });
  EXPECT_TRUE(status.ok()) << status.text();
}

TEST_F(SharedPagesTest, AnOrderAsTheSamplesLieStaysAsItIs) {
  MakeOf("tar+shards=3+shuffle=5");
  EXPECT_THAT(pages_->WithNeighbours(list_->files(), 0).files, ElementsAreArray(list_->files()));
}

TEST_F(SharedPagesTest, WhatThePageCacheHasIsNotReadAgain) {
  MakeOf("tar+shards=1");
  Order order = list_->files();
  std::ranges::shuffle(order, std::mt19937_64(3));
  const NeighbourOrder none = pages_->WithNeighbours(order, 0);
  const NeighbourOrder all = pages_->WithNeighbours(order, kImages);
  EXPECT_LT(all.files.size(), none.files.size());
  for (const NeighbourOrder* with : {&none, &all}) {
    ASSERT_EQ(with->files.size(), with->beside.size());
    Order own;
    for (size_t place = 0; place < with->files.size(); ++place) {
      if (!with->beside[place]) own.push_back(with->files[place]);
    }
    EXPECT_EQ(own, order);
  }
}

TEST_F(SharedPagesTest, OthersStay) {
  MakeOf("tar+shards=1");
  EXPECT_THAT(pages_->WithNeighbours({4'000'000}, 0).files, ElementsAre(4'000'000));
}

}  // namespace
}  // namespace augur
