// SPDX-License-Identifier: Apache-2.0
// Where what lies in archives, without a mount. What readers make of them: tests/mount/test_archives.py.
#include "archives/archive_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "base/crc32c.h"
#include "unit/fs/store_fixture.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr ImageInfo kJpeg = {.width = 8, .height = 8, .kind = ImageKind::kJpeg, .channels = 3, .bit_depth = 8};

class ArchiveSetTest : public ::testing::Test {
 protected:
  // The bytes of a file, by its path: of another length for each.
  static std::string BytesOf(const std::string& path) {
    std::string bytes;
    while (bytes.size() < 20 + std::hash<std::string>()(path) % 1500) bytes += path;
    return bytes;
  }

  // Packs images under these names, beside a text in each class.
  void Pack(std::vector<std::string> paths) {
    auto writer = StoreWriter::Begin(folder_ / "store", {});
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    std::ranges::sort(paths);
    for (const std::string& path : paths) {
      const std::string bytes = BytesOf(path);
      const ImageInfo info = path.ends_with(".txt") ? ImageInfo() : kJpeg;
      ASSERT_TRUE((*writer)->AddFile(path, {.mode = 0644}, info, AsBytes(bytes)).ok()) << path;
    }
    ASSERT_TRUE((*writer)->Commit().ok());
    auto store = Store::Open(folder_ / "store");
    ASSERT_TRUE(store.ok()) << store.status().text();
    store_ = *store;
  }

  Result<std::shared_ptr<const ArchiveSet>> Make(const std::string& spec, uint64_t bytes_max = 1 << 20) {
    return ArchiveSet::Make(store_, 0, *ParseViewSpec(spec), bytes_max);
  }

  // The bytes that the pieces stand for.
  std::string Text(const std::vector<ArchivePiece>& pieces) {
    std::string text;
    for (const ArchivePiece& piece : pieces) {
      if (const auto* const image = std::get_if<ImagePiece>(&piece)) {
        text += BytesOf(*store_->PathOf(image->image.number)).substr(image->offset, image->bytes);
      } else if (const auto* const crc = std::get_if<ChecksumPiece>(&piece)) {
        const std::string bytes = BytesOf(*store_->PathOf(crc->image.number));
        const uint32_t masked = MaskedCrc32c(Crc32c(AsBytes(bytes), crc->crc_before));
        text += std::string(reinterpret_cast<const char*>(&masked), sizeof masked).substr(crc->offset, crc->bytes);
      } else if (const auto* const array = std::get_if<ArrayPiece>(&piece)) {
        text += std::string(array->bytes, static_cast<char>(array->image.number));
      } else {
        text += std::get<GeneratedPiece>(piece).bytes;
      }
    }
    return text;
  }

  std::string Part(const ArchiveFiles& set, uint32_t shard, uint64_t offset, uint64_t bytes) {
    const auto pieces = set.Pieces(shard, offset, bytes);
    EXPECT_TRUE(pieces.ok()) << pieces.status().text();
    return pieces.ok() ? Text(*pieces) : std::string();
  }

  TemporaryFolder folder_;
  std::shared_ptr<const Store> store_;
};

std::vector<std::string> ManyPaths(size_t count) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < count; ++i) {
    paths.push_back("class" + std::to_string(i % 7) + "/" + std::string(i % 5 == 0 ? 150 : 3, 'n') + std::to_string(i) +
                    ".jpg");
  }
  return paths;
}

TEST_F(ArchiveSetTest, EachPartIsThatOfTheWhole) {
  Pack(ManyPaths(300));
  std::mt19937_64 random(1);
  for (const char* spec : {"tar+shards=1", "tar+shards=3+shuffle=5", "tar+shard=40K", "tfrecord+shards=2",
                           "tfrecord+keys=tfds+name=x+shards=3+shuffle=9", "mds+shards=4", "mds+shards=1+shuffle=2"}) {
    const auto set = Make(spec);
    ASSERT_TRUE(set.ok()) << set.status().text();
    uint32_t samples = 0;
    for (uint32_t shard = 0; shard < (*set)->shard_count(); ++shard) {
      const uint64_t bytes = (*set)->FileBytes(shard);
      const std::string whole = Part(**set, shard, 0, bytes + 10);
      ASSERT_EQ(whole.size(), bytes);
      samples += (*set)->SampleCount(shard);
      for (int i = 0; i < 60; ++i) {
        const uint64_t offset = random() % (bytes + 5);
        const uint64_t length = random() % 5000;
        const std::string wanted = offset < bytes ? whole.substr(offset, length) : "";
        ASSERT_EQ(Part(**set, shard, offset, length), wanted) << offset << " " << length;
      }
    }
    EXPECT_EQ(samples, 300U) << spec;
  }
}

// As MDSReader.get_sample_data of MosaicML Streaming finds them.
TEST_F(ArchiveSetTest, AShardOfMdsHasThePlacesOfItsSamples) {
  Pack(ManyPaths(200));
  const auto set = Make("mds+shards=3");
  ASSERT_TRUE(set.ok()) << set.status().text();
  uint32_t sample = 0;
  for (uint32_t shard = 0; shard < 3; ++shard) {
    const std::string whole = Part(**set, shard, 0, (*set)->FileBytes(shard));
    const auto number_at = [&whole](uint64_t at) {
      uint32_t number = 0;
      std::memcpy(&number, whole.data() + at, sizeof number);
      return number;
    };
    ASSERT_EQ(number_at(0), (*set)->SampleCount(shard));
    for (uint32_t i = 0; i < number_at(0); ++i, ++sample) {
      const uint32_t place = number_at(4 + 4 * i);
      const auto got = (*set)->samples().Get(sample);
      ASSERT_EQ(number_at(place), got->image.size);
      ASSERT_EQ(number_at(place + 4), got->image.name.size());
      ASSERT_EQ(whole.substr(place + 8, got->image.size), BytesOf(*store_->PathOf(got->image.number)));
      ASSERT_EQ(number_at(place + 8 + got->image.size), static_cast<uint32_t>(got->label));
      ASSERT_EQ(whole.substr(place + 16 + got->image.size, got->image.name.size()), got->image.name);
      ASSERT_EQ(place + 16 + got->image.size + got->image.name.size(), number_at(8 + 4 * i));
    }
    EXPECT_EQ((*set)->FindShard((*set)->ShardName(shard)), shard);
  }
  EXPECT_EQ(sample, 200U);
  EXPECT_FALSE((*set)->FindShard("shard.00003.mds"));
  EXPECT_FALSE((*set)->FindShard("shard.0000.mds"));
}

// Frames as record_reader.cc of TensorFlow walks them.
TEST_F(ArchiveSetTest, TheIndexHasTheFramesOfTheRecords) {
  Pack(ManyPaths(200));
  const auto set = Make("tfrecord+shards=3");
  ASSERT_TRUE(set.ok()) << set.status().text();
  for (uint32_t shard = 0; shard < 3; ++shard) {
    const std::string whole = Part(**set, shard, 0, (*set)->FileBytes(shard));
    std::string wanted;
    for (uint64_t at = 0; at < whole.size();) {
      uint64_t length = 0;
      uint32_t crc = 0;
      std::memcpy(&length, whole.data() + at, sizeof length);
      std::memcpy(&crc, whole.data() + at + 8, sizeof crc);
      ASSERT_EQ(crc, MaskedCrc32c(Crc32c(AsBytes(whole.substr(at, 8)))));
      ASSERT_LE(at + 16 + length, whole.size());
      std::memcpy(&crc, whole.data() + at + 12 + length, sizeof crc);
      ASSERT_EQ(crc, MaskedCrc32c(Crc32c(AsBytes(whole.substr(at + 12, length)))));
      std::string line = std::to_string(at) + " " + std::to_string(16 + length);
      line.resize(31, ' ');
      wanted += line + "\n";
      at += 16 + length;
    }
    EXPECT_EQ((*set)->IndexBytes(shard), wanted.size());
    std::mt19937_64 random(shard);
    for (int i = 0; i < 100; ++i) {
      const uint64_t offset = random() % (wanted.size() + 9);
      const uint64_t bytes = random() % 700;
      const auto text = (*set)->IndexText(shard, offset, bytes);
      ASSERT_TRUE(text.ok()) << text.status().text();
      ASSERT_EQ(*text, offset < wanted.size() ? wanted.substr(offset, bytes) : "");
    }
  }
}

TEST_F(ArchiveSetTest, PiecesBetweenImagesAreOne) {
  Pack(ManyPaths(20));
  const auto set = Make("tar+shards=1");
  ASSERT_TRUE(set.ok()) << set.status().text();
  const auto pieces = (*set)->Pieces(0, 0, (*set)->FileBytes(0));
  ASSERT_TRUE(pieces.ok());
  EXPECT_EQ(pieces->size(), 2 * 20 + 1U);
}

TEST_F(ArchiveSetTest, ShardsAreOfOneLength) {
  Pack(ManyPaths(10));
  const auto set = Make("tar+shards=4");
  ASSERT_TRUE(set.ok()) << set.status().text();
  std::vector<uint32_t> counts;
  for (uint32_t shard = 0; shard < (*set)->shard_count(); ++shard) counts.push_back((*set)->SampleCount(shard));
  EXPECT_THAT(counts, ElementsAre(2, 3, 2, 3));
  // More shards than samples: some are empty, and have an end alone.
  const auto many = Make("tar+shards=11");
  ASSERT_TRUE(many.ok()) << many.status().text();
  EXPECT_EQ((*many)->SampleCount(0), 0U);
  EXPECT_EQ(Part(**many, 0, 0, 5000), std::string(1024, '\0'));
}

TEST_F(ArchiveSetTest, AShardHasAtMostItsSize) {
  Pack(ManyPaths(100));
  const auto set = Make("tar+shard=20K");
  ASSERT_TRUE(set.ok()) << set.status().text();
  for (uint32_t shard = 0; shard + 1 < (*set)->shard_count(); ++shard) {
    EXPECT_LE((*set)->FileBytes(shard), 20U << 10);
    EXPECT_GT((*set)->FileBytes(shard) + (*set)->FileBytes(shard + 1), 20U << 10);
  }
  // An image that is larger than that has one of its own.
  const auto small = Make("tar+shard=1");
  ASSERT_TRUE(small.ok()) << small.status().text();
  EXPECT_EQ((*small)->shard_count(), 100U);
}

TEST_F(ArchiveSetTest, AFolderWithoutImagesHasNone) {
  Pack({"a/notes.txt", "b/notes.txt"});
  for (const char* spec : {"tar", "tar+shards=5"}) {
    const auto set = Make(spec);
    ASSERT_TRUE(set.ok()) << set.status().text();
    EXPECT_EQ((*set)->shard_count(), 0U);
  }
  const auto names = (*Make("tar"))->samples().ClassNames();
  ASSERT_TRUE(names.ok());
  EXPECT_THAT(*names, ElementsAre("a", "b"));
}

TEST_F(ArchiveSetTest, ATableHasALimit) {
  Pack(ManyPaths(300));
  const auto set = Make("tar", 1000);
  EXPECT_EQ(set.status().code(), Code::kNoSpace);
  const auto enough = Make("tar", 100'000);
  ASSERT_TRUE(enough.ok()) << enough.status().text();
  EXPECT_LE((*enough)->memory_bytes(), 100'000U);
}

// Each array stands for bytes of the number of its image.
TEST_F(ArchiveSetTest, EachPartOfStackedArraysIsThatOfTheWhole) {
  Pack(ManyPaths(1100));
  std::mt19937_64 random(2);
  for (const char* spec :
       {"h5+size=8x8", "h5+size=8x8+encoded", "h5+encoded", "h5+size=256x256", "zarr+size=8x8",
        "zarr+size=8x8+chunk=7+format=2", "zarr+size=64x64+dtype=f32+chunk=300", "zarr+size=8x8+shard=64",
        "zarr+size=8x8+shard=64+chunk=4", "zarr+size=256x256+shard=1100", "zarr+size=256x256+shard=2000+chunk=5"}) {
    const auto files = ArchiveFiles::Make(store_, 0, *ParseViewSpec(spec), 4 << 20);
    ASSERT_TRUE(files.ok()) << files.status().text();
    const auto shard = static_cast<uint32_t>(random() % (*files)->shard_count());
    const uint64_t bytes = (*files)->FileBytes(shard);
    ASSERT_EQ((*files)->IndexBytes(shard), 0U);
    // Of a large file its beginning.
    const uint64_t looked_at = std::min<uint64_t>(bytes, 8 << 20);
    const std::string whole = Part(**files, shard, 0, looked_at);
    ASSERT_EQ(whole.size(), looked_at) << spec;
    for (int i = 0; i < 100; ++i) {
      const uint64_t offset = random() % looked_at;
      const uint64_t length = std::min(random() % 20'000, looked_at - offset);
      ASSERT_EQ(Part(**files, shard, offset, length), whole.substr(offset, length)) << spec << " " << offset;
    }
    EXPECT_EQ(Part(**files, shard, bytes, 10), "");
    EXPECT_EQ(Part(**files, shard, bytes - 1, 10).size(), 1U);
  }
}

TEST_F(ArchiveSetTest, ChunksOfZarrAreNamedByTheirNumber) {
  Pack(ManyPaths(20));
  for (const auto& [spec, name] :
       {std::pair("zarr+size=8x8", "c.3.0.0.0"), std::pair("zarr+size=8x8+format=2", "3.0.0.0"),
        std::pair("zarr+size=8x8+chunk=6", "c.3.0.0.0"), std::pair("zarr+size=8x8+shard=6", "c.3.0.0.0")}) {
    const auto files = ArchiveFiles::Make(store_, 0, *ParseViewSpec(spec), 1 << 20);
    ASSERT_TRUE(files.ok()) << files.status().text();
    EXPECT_EQ((*files)->ShardName(3), name);
    EXPECT_EQ((*files)->FindShard(name), 3U);
    for (const char* other : {"", "c.", ".0.0.0", "c..0.0.0", "c.03.0.0.0", "03.0.0.0", "c.20.0.0.0", "20.0.0.0",
                              "c.-1.0.0.0", "c.4294967296.0.0.0", "3.0.0", "c.3.0.0.1"}) {
      EXPECT_FALSE((*files)->FindShard(other)) << other;
    }
    const auto only = (*files)->OnlyImage(3);
    ASSERT_TRUE(only.ok());
    EXPECT_EQ(only->has_value(), std::string_view(spec).find("6") == std::string_view::npos);
  }
}

}  // namespace
}  // namespace augur
