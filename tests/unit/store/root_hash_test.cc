// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "augur/store.h"
#include "unit/store/refusal.h"
#include "unit/store/test_store.h"

// What a root hash lets in, and which records it refuses.
namespace augur {
namespace {

using namespace augur::testing;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

TEST(RootHash, OpensTheStoreThatHasItAndNoOther) {
  const TempFolder folder;
  const TestStore small = SmallStore(2);
  small.Write(folder.path());
  const Digest root = RootOf(small.Index());
  const Result<std::shared_ptr<const Store>> store = Store::Open(folder.path(), {.root_hash = root});
  ASSERT_TRUE(store.ok()) << store.status().text();
  EXPECT_TRUE(UseAll(**store).ok());
  EXPECT_EQ((*store)->summary().root_hash, root);

  const Status other = Store::Open(folder.path(), {.root_hash = DigestOf("another")}).status();
  EXPECT_EQ(other.code(), Code::kInvalid);
  EXPECT_THAT(other.text(), HasSubstr("its root hash is"));
  EXPECT_EQ(VerifyStore(folder.path(), 1, {}, {}, DigestOf("another")).status().code(), Code::kInvalid);
}

TEST(RootHash, RefusesAStoreOfVersion1WithTheCure) {
  const TempFolder folder;
  SmallStore(1).Write(folder.path());
  const Status status = Store::Open(folder.path(), {.root_hash = Digest{}}).status();
  EXPECT_EQ(status.code(), Code::kInvalid);
  EXPECT_THAT(status.text(), HasSubstr("augurpack upgrade"));
}

// What somebody who may write to a shard and makes two files with the same XXH3-128 reaches: simulated by an index that
// has the XXH3-128 of the bytes that are there, and the SHA-256 of those that should be.
TEST(RootHash, ChecksRecordsByWhatCannotBeForged) {
  const TempFolder folder;
  TestStore forged = SmallStore(2);
  std::string& tar = forged.files["foreign.tar"];
  tar[600] = static_cast<char>(tar[600] ^ 1);
  forged.entries[kTar].hash = HashOf(tar.substr(512, 700));
  forged.Write(folder.path());
  const auto read = [&](const StoreOptions& options) {
    const std::shared_ptr<const Store> store = *Store::Open(folder.path(), options);
    std::vector<std::byte> bytes(700);
    return store->Read(*store->Get(kTar), 0, bytes);
  };
  EXPECT_TRUE(read({}).ok()) << "XXH3-128 alone is no protection against people";
  const Status pinned = read({.root_hash = RootOf(forged.Index())});
  EXPECT_EQ(pinned.code(), Code::kCorrupt);
  EXPECT_THAT(pinned.text(), HasSubstr("foreign.tar: record 4 (tar.bin): checksum mismatch"));
}

std::vector<Defect> DigestDefects() {
  const auto changed = [](const char* name, SmallEntry number, const char* text) {
    return Defect{name, [number](TestStore& s) { s.digests[number].bytes[31] ^= std::byte{1}; }, text, Code::kCorrupt,
                  true};
  };
  return {
      changed("directory", kDirA, "entry 1: a SHA-256 of what is not a regular file"),
      changed("link", kLink, "entry 3: a SHA-256 of what is not a regular file"),
      changed("zero", kZero, "entry 6: not the SHA-256 of no bytes"),
      changed("record", kTar, "foreign.tar: record 4 (tar.bin): checksum mismatch"),
      {"block", [](TestStore& s) { s.block_digests[1].bytes[0] ^= std::byte{1}; },
       "shard-00000001-00000: record 7 block 1 (a/big.bin): checksum mismatch", Code::kCorrupt, true},
  };
}

INSTANTIATE_TEST_SUITE_P(Digest, Refusal, ::testing::ValuesIn(DigestDefects()), NameOf);

}  // namespace
}  // namespace augur
