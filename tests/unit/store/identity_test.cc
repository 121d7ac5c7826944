// SPDX-License-Identifier: Apache-2.0
#include "store/identity.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "augur/store.h"
#include "unit/store/test_store.h"

namespace augur {
namespace {

using namespace augur::testing;  // NOLINT(google-build-using-namespace)

using Name = std::pair<uint64_t, uint64_t>;

// The identity of every block of the store, in the order of its entries.
std::vector<Name> Identities(const std::string& folder) {
  const Result<std::shared_ptr<const Store>> store = Store::Open(folder);
  EXPECT_TRUE(store.ok()) << store.status().text();
  std::vector<Name> names;
  for (const uint64_t number : {kTar, kTwin, kBig, kOne}) {
    const Entry file = *(*store)->Get(number);
    for (uint64_t block = 0; block < Store::BlockCount(file); ++block) {
      const Result<Hash128> identity = (*store)->BlockIdentity(file, block);
      EXPECT_TRUE(identity.ok());
      names.emplace_back(identity->high, identity->low);
    }
  }
  return names;
}

// How many names are in both lists.
size_t Shared(const std::vector<Name>& one, const std::vector<Name>& two) {
  const std::set<Name> names(one.begin(), one.end());
  size_t shared = 0;
  for (const Name& name : two) shared += names.count(name);
  return shared;
}

TEST(UnforgeableHashTest, IsTheBeginningOfSha256) {
  // FIPS 180-4: SHA-256 of "abc" is ba7816bf8f01cfea414140de5dae2223...
  const Hash128 hash = UnforgeableHash(std::as_bytes(std::span("abc", 3)));
  EXPECT_EQ(__builtin_bswap64(hash.high), 0xba7816bf8f01cfeaU);
  EXPECT_EQ(__builtin_bswap64(hash.low), 0x414140de5dae2223U);
}

TEST(BlockIdentityTest, IsOfThePlaceOfTheBlock) {
  const TempFolder folder;
  SmallStore().Write(folder.path());
  const std::vector<Name> names = Identities(folder.path());
  ASSERT_EQ(names.size(), 6U);  // tar.bin, twin.jpg, three blocks of big.bin, one.jpg
  EXPECT_EQ(std::set<Name>(names.begin(), names.end()).size(), 5U);
  EXPECT_EQ(names[1], names[5]) << "twin.jpg is the record of one.jpg";
  EXPECT_EQ(Identities(folder.path()), names) << "the same after the store was opened again";
}

// A store that claims the hashes of another one is another store.
TEST(BlockIdentityTest, NoStoreNamesTheBlocksOfAnother) {
  const TempFolder honest;
  const TempFolder copy;
  SmallStore().Write(honest.path());
  SmallStore().Write(copy.path());
  EXPECT_EQ(Shared(Identities(honest.path()), Identities(copy.path())), 0U);
}

TEST(BlockIdentityTest, AStoreThatLinksToTheIndexOfAnotherIsAnother) {
  const TempFolder honest;
  const TempFolder linked;
  SmallStore().Write(honest.path());
  SmallStore().Write(linked.path());
  const std::string index = "/index-00000001";
  for (const bool hard : {false, true}) {
    std::filesystem::remove(linked.path() + index);
    if (hard) {
      std::filesystem::create_hard_link(honest.path() + index, linked.path() + index);
    } else {
      std::filesystem::create_symlink(honest.path() + index, linked.path() + index);
    }
    EXPECT_EQ(Shared(Identities(honest.path()), Identities(linked.path())), 0U);
  }
}

TEST(BlockIdentityTest, AnIndexThatWasWrittenAgainIsAnother) {
  const TempFolder folder;
  SmallStore().Write(folder.path());
  const std::vector<Name> before = Identities(folder.path());
  const std::string index = folder.path() + "/index-00000001";
  struct stat first {};
  struct stat now {};
  ASSERT_EQ(::stat(index.c_str(), &first), 0);
  do {  // the kernel stamps files with the time of its last tick
    ASSERT_EQ(::chmod(index.c_str(), 0600), 0);
    ASSERT_EQ(::stat(index.c_str(), &now), 0);
  } while (now.st_ctim.tv_sec == first.st_ctim.tv_sec && now.st_ctim.tv_nsec == first.st_ctim.tv_nsec);
  EXPECT_EQ(Shared(before, Identities(folder.path())), 0U) << "the change time is another";
}

TEST(CheckIdentityTest, TellsTheBytesOfTheBlockFromOthers) {
  const TempFolder folder;
  SmallStore().Write(folder.path());
  const Result<std::shared_ptr<const Store>> store = Store::Open(folder.path());
  ASSERT_TRUE(store.ok());
  const Entry big = *(*store)->Get(kBig);
  std::string block = BigBytes().substr(kBlockBytes, kBlockBytes);
  EXPECT_TRUE((*store)->CheckIdentity(big, 1, std::as_bytes(std::span(block))).ok());
  EXPECT_EQ((*store)->CheckIdentity(big, 0, std::as_bytes(std::span(block))).code(), Code::kCorrupt);
  block[100] = static_cast<char>(block[100] ^ 1);
  EXPECT_EQ((*store)->CheckIdentity(big, 1, std::as_bytes(std::span(block))).code(), Code::kCorrupt);
}

}  // namespace
}  // namespace augur
