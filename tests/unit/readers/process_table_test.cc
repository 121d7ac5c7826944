// SPDX-License-Identifier: Apache-2.0
#include "readers/process_table.h"

#include <gtest/gtest.h>

#include "unit/readers/fake_processes.h"

namespace augur {
namespace {

constexpr uint64_t kNow = 100'000'000;

class ProcessTableTest : public testing::Test {
 protected:
  ProcessTableTest() { fake_.SetNow(kNow); }

  FakeProcesses fake_;
  ProcessTable table_{&fake_};
};

TEST_F(ProcessTableTest, NobodyKnowsThreadZero) {
  EXPECT_EQ(table_.Of(0, kNow), nullptr);
  EXPECT_EQ(fake_.looks(), 0U);
}

TEST_F(ProcessTableTest, AsksOnceForAThreadThatGoesOn) {
  const uint32_t pid = fake_.Spawn(0, "python train.py", 1'000'000);
  const auto process = table_.Of(pid, kNow);
  ASSERT_NE(process, nullptr);
  EXPECT_TRUE(process->known);
  EXPECT_EQ(process->facts.pid, pid);
  for (uint64_t i = 1; i <= 1000; i++) EXPECT_EQ(table_.Of(pid, kNow + i * 900'000), process);
  EXPECT_EQ(fake_.looks(), 1U);
}

TEST_F(ProcessTableTest, ThreadsOfOneProcessAreOne) {
  const uint32_t pid = fake_.Spawn(0, "python train.py", 1'000'000);
  const uint32_t thread = fake_.AddThread(pid);
  EXPECT_EQ(table_.Of(thread, kNow), table_.Of(pid, kNow));
  EXPECT_EQ(table_.Of(fake_.AddThread(pid), kNow), table_.Of(pid, kNow));
}

TEST_F(ProcessTableTest, WorkersReadForTheirScript) {
  const uint32_t shell = fake_.Spawn(0, "bash", 1'000'000);
  const uint32_t script = fake_.Spawn(shell, "python train.py", 2'000'000);
  const uint32_t worker = fake_.Fork(script, 3'000'000);
  const auto process = table_.Of(worker, kNow);
  EXPECT_EQ(process->Script().facts.pid, script);
  EXPECT_EQ(&table_.Of(fake_.Fork(script, 3'100'000), kNow)->Script(), &process->Script());
  EXPECT_EQ(table_.Of(script, kNow)->script, nullptr) << "the shell does not run the same program";
}

TEST_F(ProcessTableTest, ChildrenOfAForkserverReadForTheScript) {
  const uint32_t script = fake_.Spawn(0, "python train.py", 2'000'000);
  const uint32_t server = fake_.Spawn(script, "python -c from multiprocessing.forkserver", 2'500'000);
  fake_.SetHelper(server);
  const uint32_t worker = fake_.Fork(server, 3'000'000);
  fake_.SetHelper(worker);
  EXPECT_EQ(table_.Of(worker, kNow)->Script().facts.pid, script);
}

TEST_F(ProcessTableTest, RanksOfALaunchHaveOneLaunchAndNotThatOfTheNext) {
  const uint32_t shell = fake_.Spawn(0, "bash", 1'000'000);
  const LaunchFacts first{.launch = 5, .rank = 0, .world_size = 2};
  const LaunchFacts second{.launch = 5, .rank = 1, .world_size = 2};
  uint64_t launches[2][2];
  for (auto& launch : launches) {
    const uint32_t launcher = fake_.Spawn(shell, "torchrun", 2'000'000, true);
    const uint32_t a = fake_.Spawn(launcher, "python train.py", 3'000'000);
    const uint32_t b = fake_.Spawn(launcher, "python train.py", 3'000'000);
    fake_.SetLaunch(a, first);
    fake_.SetLaunch(b, second);
    launch[0] = table_.Of(fake_.Fork(a, 4'000'000), kNow)->Script().launch.launch;
    launch[1] = table_.Of(b, kNow)->Script().launch.launch;
    EXPECT_NE(launch[0], 0U);
    EXPECT_EQ(launch[0], launch[1]);
    EXPECT_EQ(table_.Of(b, kNow)->launch.rank, 1U);
  }
  EXPECT_NE(launches[0][0], launches[1][0]) << "the variables are the same, the launcher is another";
}

TEST_F(ProcessTableTest, ALauncherIsEnoughWhereTheEnvironmentMayNotBeRead) {
  const uint32_t launcher = fake_.Spawn(0, "torchrun", 2'000'000, true);
  const uint32_t a = fake_.Spawn(launcher, "python train.py --local_rank 0", 3'000'000);
  const uint32_t b = fake_.Spawn(launcher, "python train.py --local_rank 1", 3'000'000);
  EXPECT_NE(table_.Of(a, kNow)->launch.launch, 0U);
  EXPECT_EQ(table_.Of(a, kNow)->launch.launch, table_.Of(b, kNow)->launch.launch);
  EXPECT_EQ(table_.Of(a, kNow)->launch.world_size, 0U);
}

TEST_F(ProcessTableTest, ALaunchOfOneIsNone) {
  const uint32_t shell = fake_.Spawn(0, "bash", 1'000'000);
  const uint32_t script = fake_.Spawn(shell, "python train.py", 2'000'000);
  fake_.SetLaunch(script, {.launch = 9, .rank = 0, .world_size = 1});
  EXPECT_EQ(table_.Of(script, kNow)->launch.launch, 0U);
}

TEST_F(ProcessTableTest, RemembersWhoHasGone) {
  const uint32_t pid = fake_.Spawn(0, "python train.py", 1'000'000);
  const auto process = table_.Of(pid, kNow);
  EXPECT_FALSE(table_.Gone(*process));
  fake_.End(pid, kNow + 1000);
  fake_.SetNow(kNow + 5'000'000);
  EXPECT_EQ(table_.Of(pid, kNow + 5'000'000), process);
  EXPECT_TRUE(table_.Gone(*process));
}

TEST_F(ProcessTableTest, WhoHadGoneBeforeIsUnknown) {
  const auto process = table_.Of(4711, kNow);
  ASSERT_NE(process, nullptr);
  EXPECT_FALSE(process->known);
  EXPECT_EQ(process->facts.pid, 4711U);
  EXPECT_EQ(&process->Script(), process.get());
  EXPECT_TRUE(table_.Gone(*process));
}

TEST_F(ProcessTableTest, APidThatIsUsedAgainIsAnotherProcess) {
  const uint32_t pid = fake_.Spawn(0, "python train.py", 1'000'000);
  const auto before = table_.Of(pid, kNow);
  fake_.End(pid, kNow + 1000);
  fake_.Reuse(pid);
  ASSERT_EQ(fake_.Spawn(0, "md5sum", kNow + 1'000'000), pid);
  fake_.SetNow(kNow + 2'000'000);
  const auto after = table_.Of(pid, kNow + 2'000'000);
  EXPECT_NE(after->serial, before->serial);
  EXPECT_TRUE(table_.Gone(*before));
  EXPECT_FALSE(table_.Gone(*after));
}

TEST_F(ProcessTableTest, AParentThatIsAnotherProcessNowIsNotTakenFromTheTable) {
  const uint32_t old_script = fake_.Spawn(0, "python train.py", 1'000'000);
  const auto before = table_.Of(old_script, kNow);
  fake_.End(old_script, kNow + 1000);
  fake_.Reuse(old_script);
  ASSERT_EQ(fake_.Spawn(0, "python train.py", kNow + 500'000), old_script);
  fake_.SetNow(kNow + 900'000);
  const uint32_t worker = fake_.Fork(old_script, kNow + 700'000);
  EXPECT_NE(table_.Of(worker, kNow + 900'000)->Script().serial, before->serial);
}

TEST_F(ProcessTableTest, ForgetsThoseThatWereSilentLongest) {
  const uint32_t script = fake_.Spawn(0, "python train.py", 1'000'000);
  const auto process = table_.Of(script, kNow);
  // More threads than the table may hold; the script reads now and then.
  for (uint32_t i = 0; i < 3 * ProcessTable::kThreadsMax; i++) {
    table_.Of(1'000'000 + i, kNow);
    if (i % 1000 == 0) table_.Of(script, kNow);
  }
  const uint64_t before = fake_.looks();
  EXPECT_EQ(table_.Of(script, kNow), process);
  EXPECT_EQ(fake_.looks(), before);
  table_.Of(1'000'000, kNow);
  EXPECT_EQ(fake_.looks(), before + 1) << "the first one was forgotten";
}

}  // namespace
}  // namespace augur
