// SPDX-License-Identifier: Apache-2.0
// Removal of old generations on a server, which locks files in its own way.
#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <string>

#include "unit/store_writer/fixture.h"
#include "unit/system_faults.h"

namespace augur {
namespace {

using testing::ElementsAre;

// As flock(2) says of NFS: an exclusive lock needs a descriptor that is open for writing.
int LocksOfNfs(const SystemCall& call) {
  const bool alone = call.name == "flock" && (call.flags & LOCK_EX) != 0;
  return alone && (::fcntl(call.fd, F_GETFL) & O_ACCMODE) == O_RDONLY ? EBADF : 0;
}

class CollectFaultsTest : public StoreWriterTest {
 protected:
  void SetUp() override {
    StoreWriterTest::SetUp();
    Create({{"a", "one"}});
    reader_ = *Store::Open(store_);
    Create({{"a", "two"}}, {.mode = WriteMode::kReplace});
  }

  std::shared_ptr<const Store> reader_;  // of the first generation
};

TEST_F(CollectFaultsTest, AGenerationInUseIsKeptOnNfs) {
  const SystemFaults faults(LocksOfNfs);
  const auto report = RemoveOldGenerations(store_);
  ASSERT_TRUE(report.ok()) << report.status().text();
  EXPECT_EQ(report->kept_generations, 1U);
  EXPECT_EQ(report->removed_files, 0U);
  EXPECT_EQ(ReadFile(*reader_, "a"), "one");
}

TEST_F(CollectFaultsTest, OneThatIsNotInUseIsRemovedOnNfs) {
  const SystemFaults faults(LocksOfNfs);
  reader_.reset();
  EXPECT_EQ(RemoveOldGenerations(store_)->removed_files, 2U);
  EXPECT_THAT(Files(), ElementsAre("index-00000002", "shard-00000002-00000"));
}

TEST_F(CollectFaultsTest, OneThatCannotBeLockedMayBeInUse) {
  reader_.reset();
  const SystemFaults faults([](const SystemCall& call) {
    return call.name == "flock" && NameOf(call.fd).starts_with("index-") ? ENOLCK : 0;
  });
  const auto report = RemoveOldGenerations(store_);
  ASSERT_TRUE(report.ok()) << report.status().text();
  EXPECT_EQ(report->kept_generations, 1U);
  EXPECT_EQ(report->removed_files, 0U);
}

// A signal may come in the middle of a lock of a server.
TEST_F(CollectFaultsTest, ALockThatIsInterruptedIsTakenOnceMore) {
  int calls = 0;
  const SystemFaults faults(
      [&](const SystemCall& call) { return call.name == "flock" && calls++ % 2 == 0 ? EINTR : 0; });
  EXPECT_EQ(RemoveOldGenerations(store_)->kept_generations, 1U) << "a reader has it";
  reader_.reset();
  const auto other = Store::Open(store_);
  EXPECT_TRUE(other.ok()) << other.status().text();
  EXPECT_EQ(RemoveOldGenerations(store_)->removed_files, 2U);
  EXPECT_GT(calls, 0);
}

TEST_F(CollectFaultsTest, NothingIsRemovedWhereTheManifestIsNotOnDisk) {
  reader_.reset();
  const SystemFaults faults([](const SystemCall& call) { return call.name == "fsync" ? EIO : 0; });
  EXPECT_EQ(RemoveOldGenerations(store_).status().code(), Code::kIo);
  EXPECT_EQ(Files().size(), 4U);
}

}  // namespace
}  // namespace augur
