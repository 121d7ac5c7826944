// SPDX-License-Identifier: Apache-2.0
// What others plant in the folder, or in its place, while a writer is at work.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

namespace fs = std::filesystem;

class PlantedTest : public StoreWriterTest {
 protected:
  void SetUp() override {
    StoreWriterTest::SetUp();
    victim_ = folder_ + "/victim";
    std::ofstream(victim_) << "mine";
  }
  std::string Victim() const {
    std::ifstream file(victim_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string victim_;
};

TEST_F(PlantedTest, ALinkForTheNewManifestIsNotWrittenThrough) {
  const auto writer = Begin({});
  ASSERT_NE(writer, nullptr);
  ASSERT_TRUE(AddText(*writer, "a", "one").ok());
  fs::create_symlink(victim_, store_ + "/manifest.new");
  EXPECT_TRUE(writer->Commit().ok());
  EXPECT_EQ(Victim(), "mine");
  EXPECT_EQ(ReadFile("a"), "one");
}

TEST_F(PlantedTest, ALinkForTheIndexEndsTheWriter) {
  const auto writer = Begin({});
  ASSERT_NE(writer, nullptr);
  ASSERT_TRUE(AddText(*writer, "a", "one").ok());
  fs::create_symlink(victim_, store_ + "/index-00000001");
  EXPECT_FALSE(writer->Commit().ok());
  EXPECT_EQ(Victim(), "mine");
}

TEST_F(PlantedTest, AFolderInThePlaceOfTheStoreIsNotWrittenTo) {
  const auto writer = Begin({});
  ASSERT_NE(writer, nullptr);
  fs::rename(store_, store_ + ".moved");
  fs::create_directory(store_);
  ASSERT_TRUE(AddText(*writer, "a", "one").ok());
  EXPECT_TRUE(writer->Commit().ok());
  EXPECT_TRUE(fs::is_empty(store_));
  EXPECT_TRUE(fs::exists(store_ + ".moved/manifest"));
}

}  // namespace
}  // namespace augur
