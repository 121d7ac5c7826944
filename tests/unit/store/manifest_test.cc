// SPDX-License-Identifier: Apache-2.0
#include "store/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/store/test_store.h"

namespace augur {
namespace {

using ::testing::HasSubstr;

std::string Hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string WithSum(const std::string& lines) { return lines + "checksum " + Hex(testing::SumOf(lines)) + "\n"; }

const char* const kGood =
    "augurfs-store 1\n"
    "generation 3\n"
    "index index-00000003\n"
    "index-bytes 131328\n"
    "index-id 0123456789abcdeffedcba9876543210\n"
    "writer augurpack 0.1.0\n";

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Manifest, IsRead) {
  const Result<Manifest> manifest = ParseManifest(WithSum(kGood));
  ASSERT_TRUE(manifest.ok()) << manifest.status().text();
  EXPECT_EQ(manifest->generation, 3U);
  EXPECT_EQ(manifest->index_bytes, 131328U);
  EXPECT_EQ(manifest->index_id, "0123456789abcdeffedcba9876543210");
  EXPECT_EQ(manifest->writer, "augurpack 0.1.0");
}

TEST(Manifest, IsRenderedAsTheSpecificationHasIt) {
  const Manifest manifest{.version = 1,
                          .generation = 3,
                          .index_bytes = 131328,
                          .index_id = "0123456789abcdeffedcba9876543210",
                          .writer = "augurpack 0.1.0"};
  EXPECT_EQ(RenderManifest(manifest), WithSum(kGood));
}

TEST(Manifest, TakesKeysInAnyOrderAndIgnoresThoseForExtensions) {
  const Result<Manifest> manifest =
      ParseManifest(WithSum("augurfs-store 1\nx-made on a whim\nwriter w\nindex-id 00000000000000010000000000000002\n"
                            "index-bytes 1\nx-made twice\nindex index-00000012\ngeneration 12\n"));
  ASSERT_TRUE(manifest.ok()) << manifest.status().text();
  EXPECT_EQ(manifest->generation, 12U);
  EXPECT_EQ(manifest->index_id, "00000000000000010000000000000002");
}

TEST(Manifest, OfVersion2HasTheWholeRootHash) {
  const std::string id(64, 'a');
  const std::string text =
      WithSum(Replace(Replace(kGood, "store 1", "store 2"), "0123456789abcdeffedcba9876543210", id));
  const Result<Manifest> manifest = ParseManifest(text);
  ASSERT_TRUE(manifest.ok()) << manifest.status().text();
  EXPECT_EQ(manifest->version, 2U);
  EXPECT_EQ(manifest->index_id, id);
  EXPECT_EQ(RenderManifest(*manifest), text);
  EXPECT_THAT(ParseManifest(WithSum(Replace(kGood, "store 1", "store 2"))).status().text(),
              HasSubstr("64 lower-case hex digits"));
}

TEST(Manifest, NamesOfFiles) {
  EXPECT_EQ(IndexName(3), "index-00000003");
  EXPECT_EQ(ShardName(3, 17), "shard-00000003-00017");
  EXPECT_EQ(ShardName(99'999'999, 1'234'567), "shard-99999999-1234567");
}

struct BadManifest {
  std::string text;
  std::string defect;
};

TEST(Manifest, RefusesWhatBreaksARule) {
  const std::string good = kGood;
  const std::string bytes = "index-bytes 131328\n";
  const std::vector<BadManifest> bads = {
      {"", "first line"},
      {"augurfs-store 1", "first line"},
      {"hello\n", "first line"},
      {WithSum(Replace(good, "store 1", "store one")), "not a number"},
      {good, "checksum line"},
      {WithSum(good).substr(0, good.size() + 12), "checksum line"},
      {Replace(WithSum(good), "generation 3", "generation 4"), "checksum mismatch"},
      {WithSum(good) + "\n", "after the checksum"},
      {WithSum(good) + "x-late 1\n", "after the checksum"},
      {good + "checksum 0123\n", "16 lower-case hex"},
      {WithSum(Replace(good, bytes, "")), "'index-bytes' is missing"},
      {WithSum(Replace(good, "writer augurpack 0.1.0\n", "")), "'writer' is missing"},
      {WithSum(good + bytes), "'index-bytes' stands twice"},
      {WithSum(good + "colour blue\n"), "unknown key 'colour'"},
      {WithSum(good + "colour\n"), "not a key, one space and a value"},
      {WithSum(Replace(good, "generation 3", "generation  3")), "not a key, one space and a value"},
      {WithSum(good + "\n"), "not a key, one space and a value"},
      {WithSum(Replace(good, "generation 3", "generation 0")), "generation '0'"},
      {WithSum(Replace(good, "generation 3", "generation 03")), "generation '03'"},
      {WithSum(Replace(good, "131328", "0131328")), "index-bytes '0131328'"},
      {WithSum(Replace(good, "generation 3", "generation three")), "generation 'three'"},
      {WithSum(Replace(good, "generation 3", "generation -3")), "generation '-3'"},
      {WithSum(Replace(good, "generation 3", "generation 18446744073709551619")), "generation '18446744073709551619'"},
      {WithSum(Replace(good, "generation 3", "generation 100000003")), "generation '100000003'"},
      {WithSum(Replace(good, "index-00000003", "index-3")), "index 'index-3'"},
      {WithSum(Replace(good, "index-00000003", "../index-00000003")), "index '../index-00000003'"},
      {WithSum(Replace(good, "131328", "0x20")), "index-bytes '0x20'"},
      {WithSum(Replace(good, "abcdef", "ABCDEF")), "index-id"},
      {WithSum(Replace(good, "abcdef", "abcde")), "index-id"},
      {WithSum(Replace(good, "0.1.0", "0.1.0\xc3\xa9")), "not ASCII"},
      {WithSum(good + "x-long " + std::string(4096, 'l') + "\n"), "over 4096 bytes"}};
  for (const BadManifest& bad : bads) {
    const Result<Manifest> manifest = ParseManifest(bad.text);
    ASSERT_FALSE(manifest.ok()) << bad.text;
    EXPECT_EQ(manifest.status().code(), Code::kCorrupt) << bad.text;
    EXPECT_THAT(manifest.status().text(), HasSubstr(bad.defect)) << bad.text;
  }
}

TEST(Manifest, OfALaterVersionIsUnsupported) {
  EXPECT_EQ(ParseManifest(WithSum(Replace(kGood, "store 1", "store 01"))).status().code(), Code::kUnsupported);
  const Result<Manifest> manifest = ParseManifest("augurfs-store 3\nanything\n");
  EXPECT_EQ(manifest.status().code(), Code::kUnsupported);
  EXPECT_THAT(manifest.status().text(), HasSubstr("version 3"));
}

}  // namespace
}  // namespace augur
