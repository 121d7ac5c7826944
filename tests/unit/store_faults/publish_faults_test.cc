// SPDX-License-Identifier: Apache-2.0
// Failures around the rename of the manifest, after which readers may see the new generation.
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "store/hash.h"
#include "store/sha256.h"
#include "unit/store_writer/fixture.h"
#include "unit/system_faults.h"

namespace augur {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class PublishFaultsTest : public StoreWriterTest {
 protected:
  // A writer of a store with one file in a foreign shard, and no own shard.
  std::unique_ptr<StoreWriter> BeginAdopting() const {
    const std::string text = "the bytes of a container";
    WriteText(folder_ + "/images.tar", text);
    struct stat info {};
    EXPECT_EQ(::stat((folder_ + "/images.tar").c_str(), &info), 0);
    auto writer = Begin();
    const auto shard = writer->AddForeignShard("../images.tar", text.size(), info.st_mtim.tv_sec,
                                               static_cast<uint32_t>(info.st_mtim.tv_nsec));
    EXPECT_TRUE(
        writer->AddForeignFile("a", {.mode = 0644}, {}, *shard, 4, 5, HashRecord(Bytes(text.substr(4, 5)))).ok());
    return writer;
  }

  // Fails the sync of the folder that comes after the rename for this generation.
  SystemFaults FailTheLastSync(int generation) const {
    const fs::path store = store_;
    const std::string index = "index-0000000" + std::to_string(generation);
    return SystemFaults([store, index](const SystemCall& call) {
      const bool last =
          call.name == "fsync" && IsFolder(call.fd) && fs::exists(store / index) && !fs::exists(store / "manifest.new");
      return last ? EIO : 0;
    });
  }
};

TEST_F(PublishFaultsTest, AnAdoptedStoreStaysWhereOnlyTheLastSyncFails) {
  {
    const auto writer = BeginAdopting();
    const SystemFaults faults = FailTheLastSync(1);
    const Status committed = writer->Commit().status();
    EXPECT_EQ(committed.code(), Code::kIo);
    EXPECT_THAT(committed.text(), HasSubstr("generation 1 is what readers see, but a crash of this machine may take it "
                                            "back: " +
                                            store_ + ": Input/output error"));
    EXPECT_FALSE(writer->End()) << "nothing is left to resume";
  }
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(ReadFile("a"), "bytes");
}

TEST_F(PublishFaultsTest, AnAppendThatAddsNothingStaysToo) {
  Create({{"a", "one"}});
  {
    const auto writer = Begin({.mode = WriteMode::kAppend});
    const SystemFaults faults = FailTheLastSync(2);
    EXPECT_FALSE(writer->Commit().ok());
  }
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(ReadFile("a"), "one");
  EXPECT_THAT(Files(), ElementsAre("index-00000001", "index-00000002", "shard-00000001-00000"))
      << "either manifest may be there after a crash";
  Create({{"b", "two"}}, {.mode = WriteMode::kAppend});
  EXPECT_THAT(Files(), Contains("index-00000003"));
}

TEST_F(PublishFaultsTest, ARenameThatTheServerMadeAndDidNotAnswerCounts) {
  {
    const auto writer = BeginAdopting();
    const fs::path store = store_;
    const SystemFaults faults([store](const SystemCall& call) {
      if (call.name != "renameat") return 0;
      fs::rename(store / "manifest.new", store / "manifest");
      return ENOENT;  // what a server says to the same request, sent a second time
    });
    const auto committed = writer->Commit();
    EXPECT_TRUE(committed.ok()) << committed.status().text();
  }
  EXPECT_EQ(Defects(), "");
  EXPECT_EQ(ReadFile("a"), "bytes");
}

TEST_F(PublishFaultsTest, WhereTheManifestCannotBeReadBackAllFilesStay) {
  Create({{"a", "one"}});
  {
    const auto writer = Begin({.mode = WriteMode::kAppend});
    const fs::path store = store_;
    const SystemFaults faults([store](const SystemCall& call) {
      if (call.name != "renameat") return 0;
      fs::rename(store / "manifest", store / "kept");
      fs::create_directory(store / "manifest");  // which no read takes for one
      return EIO;
    });
    EXPECT_THAT(writer->Commit().status().text(), HasSubstr("whether generation 2 is what readers see is not known"));
  }
  EXPECT_TRUE(fs::exists(store_ + "/index-00000002"));
  fs::remove(store_ + "/manifest");
  fs::rename(store_ + "/kept", store_ + "/manifest");
  EXPECT_EQ(ReadFile("a"), "one");
}

TEST_F(PublishFaultsTest, ARenameThatFailedLeavesTheStoreAsItWas) {
  Create({{"a", "one"}});
  {
    const auto writer = Begin({.mode = WriteMode::kAppend});
    const SystemFaults faults([](const SystemCall& call) { return call.name == "renameat" ? EDQUOT : 0; });
    EXPECT_EQ(writer->Commit().status().code(), Code::kNoSpace);
  }
  EXPECT_THAT(Files(), ElementsAre("index-00000001", "shard-00000001-00000"));
  EXPECT_EQ(ReadFile("a"), "one");
}

}  // namespace
}  // namespace augur
