// SPDX-License-Identifier: Apache-2.0
#include "archives/archive_names.h"

#include <gtest/gtest.h>

#include <string>

namespace augur {
namespace {

TEST(ArchiveNames, ANameIsReadBack) {
  const ViewSpec spec = *ParseViewSpec("tar");
  for (const char* folder : {"train", "a-000001", "a-000001.tar", "-", "\xFF"}) {
    for (const uint32_t shard : {0U, 7U, 99'998U}) {
      const std::string name = NameOfArchive(spec, {.folder = folder, .shard = shard});
      const auto read = ParseArchiveName(spec, name);
      ASSERT_TRUE(read) << name;
      EXPECT_EQ(read->folder, folder);
      EXPECT_EQ(read->shard, shard);
    }
  }
  EXPECT_EQ(NameOfArchive(spec, {.folder = "train", .shard = 12}), "train-000012.tar");
}

TEST(ArchiveNames, OfTfrecordFilesAreReadBack) {
  for (const char* text : {"tfrecord", "tfrecord+keys=tfds+name=flowers"}) {
    const ViewSpec spec = *ParseViewSpec(text);
    for (const char* folder : {"train", "a-00001-of-00002", "a.tfrecord", "a.idx"}) {
      for (const bool is_index : {false, true}) {
        const ArchiveName name = {.folder = folder, .shard = 7, .shards = 99'999, .is_index = is_index};
        const std::string typed = NameOfArchive(spec, name);
        const auto read = ParseArchiveName(spec, typed);
        ASSERT_TRUE(read) << typed;
        EXPECT_EQ(read->folder, folder);
        EXPECT_EQ(read->shard, 7U);
        EXPECT_EQ(read->shards, 99'999U);
        EXPECT_EQ(read->is_index, is_index);
      }
    }
  }
  EXPECT_EQ(NameOfArchive(*ParseViewSpec("tfrecord"), {.folder = "train", .shard = 3, .shards = 1024}),
            "train-00003-of-01024");
  EXPECT_EQ(NameOfArchive(*ParseViewSpec("tfrecord+keys=tfds+name=x"), {.folder = "train", .shard = 3, .shards = 10}),
            "x-train.tfrecord-00003-of-00010");
  for (const char* text : {"", "-00003-of-01024", "train-0003-of-01024", "train-00003-of-1024", "train-00003_of_01024",
                           "train00003-of-01024", "train-00003-of-0102x", "train"}) {
    EXPECT_FALSE(ParseArchiveName(*ParseViewSpec("tfrecord"), text)) << text;
  }
  EXPECT_FALSE(ParseArchiveName(*ParseViewSpec("tfrecord+keys=tfds+name=x"), "y-train.tfrecord-00003-of-00010"));
}

TEST(ArchiveNames, OfOneArchiveForAFolderAreReadBack) {
  for (const char* text : {"mds+shards=2", "h5+size=8x8", "zarr+size=8x8"}) {
    const ViewSpec spec = *ParseViewSpec(text);
    for (const char* folder : {"train", "a.h5", "a.zarr", ".mds"}) {
      const std::string name = NameOfArchive(spec, {.folder = folder});
      const auto read = ParseArchiveName(spec, name);
      ASSERT_TRUE(read) << name;
      EXPECT_EQ(read->folder, folder);
      EXPECT_EQ(read->shard, 0U);
    }
    for (const char* name : {"", ".mds", ".h5", ".zarr", "train", "train.tar"}) {
      EXPECT_FALSE(ParseArchiveName(spec, name)) << name;
    }
  }
  EXPECT_EQ(NameOfArchive(*ParseViewSpec("h5+crop=8"), {.folder = "train"}), "train.h5");
}

TEST(ArchiveNames, OthersAreNone) {
  const ViewSpec spec = *ParseViewSpec("tar");
  for (const char* name :
       {"", "tar", ".tar", "-000000.tar", "train-00000.tar", "train000000.tar", "train-0000000.tar", "train-00000x.tar",
        "train-+00000.tar", "train- 00000.tar", "train-000000.TAR", "train-000000.tar.gz"}) {
    const auto read = ParseArchiveName(spec, name);
    EXPECT_FALSE(read && NameOfArchive(spec, *read) == name && read->folder == "train") << name;
  }
  EXPECT_FALSE(ParseArchiveName(spec, "train-0000000.tar"));
}

}  // namespace
}  // namespace augur
