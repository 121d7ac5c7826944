// SPDX-License-Identifier: Apache-2.0
#include "fuse/attributes.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(ToStat, ShowsTheAttributes) {
  const struct stat out = ToStat({.node = (uint64_t{3} << 40) + 7,
                                  .mode = S_IFREG | 0640,
                                  .uid = 12,
                                  .gid = 34,
                                  .size = 1025,
                                  .mtime_sec = -5,
                                  .mtime_nsec = 999'999'999});
  EXPECT_EQ(out.st_ino, (uint64_t{3} << 40) + 7);
  EXPECT_EQ(out.st_mode, static_cast<mode_t>(S_IFREG | 0640));
  EXPECT_EQ(out.st_nlink, 1u);
  EXPECT_EQ(out.st_uid, 12u);
  EXPECT_EQ(out.st_gid, 34u);
  EXPECT_EQ(out.st_size, 1025);
  EXPECT_EQ(out.st_blksize, 4096);
  EXPECT_EQ(out.st_blocks, 3);  // of 512 bytes, whatever st_blksize is
  EXPECT_EQ(out.st_mtim.tv_sec, -5);
  EXPECT_EQ(out.st_mtim.tv_nsec, 999'999'999);
  EXPECT_EQ(out.st_atim.tv_nsec, 999'999'999);
  EXPECT_EQ(out.st_ctim.tv_sec, -5);
}

TEST(ToStat, AnArchiveIsReadInLargePieces) {
  NodeAttributes archive;
  archive.mode = S_IFREG | 0444;
  archive.size = 1'000'000;
  archive.stored_bytes = 600'001;
  const struct stat out = ToStat(archive);
  EXPECT_EQ(out.st_size, 1'000'000);
  EXPECT_EQ(out.st_blocks, 1172);  // of the stored bytes
  EXPECT_EQ(out.st_blksize, 1 << 20);
}

}  // namespace
}  // namespace augur
