// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_generation.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "remote/file_uploads.h"

namespace augur {
namespace {

TEST(RemoteGeneration, NamesOfObjectsTellTheirGeneration) {
  EXPECT_EQ(ClaimName(3), "writer-00000003");
  EXPECT_EQ(GenerationOfObject("writer-00000003"), 3U);
  EXPECT_EQ(GenerationOfObject("index-00000012"), 12U);
  EXPECT_EQ(GenerationOfObject("shard-00000001-00017"), 1U);
  for (const char* const name :
       {"manifest", "writer-3", "writer-00000000", "index-", "shard-00000001", "x", "", "lock"}) {
    EXPECT_FALSE(GenerationOfObject(name).has_value()) << name;
  }
}

// The limits of S3: parts of 5 MiB to 5 GiB, 10,000 parts, objects of 5 TiB.
TEST(FileUploads, PartsAreWithinTheLimitsOfS3) {
  constexpr uint64_t kMiB = 1 << 20;
  EXPECT_EQ(UploadPartBytes(1), 0U);
  EXPECT_EQ(UploadPartBytes(16 * kMiB), 0U);
  EXPECT_EQ(UploadPartBytes(16 * kMiB + 1), 16 * kMiB);
  EXPECT_EQ(UploadPartBytes(160'000 * kMiB), 16 * kMiB);
  for (const uint64_t bytes : {160'000 * kMiB + 1, 1'000'000 * kMiB + 7, 5 * kMiB * kMiB}) {
    const uint64_t part = UploadPartBytes(bytes);
    EXPECT_GT(part, 16 * kMiB) << bytes;
    EXPECT_LE((bytes + part - 1) / part, 10'000U) << bytes;
  }
}

}  // namespace
}  // namespace augur
