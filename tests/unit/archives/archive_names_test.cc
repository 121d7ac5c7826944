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
