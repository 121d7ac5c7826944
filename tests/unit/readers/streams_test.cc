// SPDX-License-Identifier: Apache-2.0
#include "readers/streams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "readers/epochs.h"
#include "unit/readers/fake_processes.h"

namespace augur {
namespace {

constexpr uint64_t kNow = 100'000'000;

class StreamsTest : public testing::Test {
 protected:
  StreamsTest() { fake_.SetNow(kNow); }

  StreamRead Read(EntryNumber file, uint32_t thread, uint64_t after_us = 0) {
    const Streams::Attribution attribution =
        streams_.Take({.file = file, .reader = thread, .read = true, .time_us = kNow + after_us});
    EXPECT_TRUE(attribution.read);
    return attribution.read.value_or(StreamRead());
  }
  // An unattributed open.
  StreamRead Unattributed(EntryNumber file, uint64_t after_us = 0) {
    const Streams::Attribution attribution = Open(file, after_us);
    EXPECT_TRUE(attribution.read);
    return attribution.read.value_or(StreamRead());
  }
  Streams::Attribution Open(EntryNumber file, uint64_t after_us = 0) {
    return streams_.Take({.file = file, .reader = 0, .read = false, .time_us = kNow + after_us});
  }

  FakeProcesses fake_;
  ProcessTable table_{&fake_};
  Streams streams_{&table_};
};

TEST_F(StreamsTest, WorkersAreStreamsOfOneJob) {
  const uint32_t script = fake_.Spawn(0, "python", 1'000'000);
  const auto a = Read(1, fake_.Fork(script, 2'000'000));
  const auto b = Read(2, fake_.Fork(script, 2'000'000));
  const auto c = Read(3, script);
  EXPECT_NE(a.job, 0U);
  EXPECT_EQ(a.job, b.job);
  EXPECT_EQ(a.job, c.job);
  EXPECT_EQ((std::set<StreamId>{a.stream, b.stream, c.stream}.size()), 3U);
}

TEST_F(StreamsTest, ThreadsOfAPoolAreOneStreamThatSaysSo) {
  const uint32_t script = fake_.Spawn(0, "python", 1'000'000);
  const auto first = Read(1, script);
  EXPECT_FALSE(first.by_other_thread);
  const auto other = Read(2, fake_.AddThread(script));
  EXPECT_TRUE(other.by_other_thread);
  EXPECT_EQ(other.stream, first.stream);
  EXPECT_FALSE(Read(3, fake_.Fork(script, 2'000'000)).by_other_thread) << "a worker process";
}

TEST_F(StreamsTest, AnEpochKnowsWhetherAPoolReadsIt) {
  const uint32_t script = fake_.Spawn(0, "python", 1'000'000);
  for (const bool multithreaded : {false, true}) {
    ProcessTable table(&fake_);
    EpochWatch watch(&table);
    const uint32_t reader = multithreaded ? fake_.AddThread(script) : script;
    const auto seen = watch.OnAccess({.file = 1, .reader = reader, .read = true, .time_us = kNow});
    ASSERT_TRUE(seen);
    const std::optional<EpochStart> epoch = watch.Running(seen.value_or(EpochWatch::PassRead()).job);
    ASSERT_TRUE(epoch);
    EXPECT_EQ(epoch.value_or(EpochStart()).streams.at(0).multithreaded, multithreaded);
  }
}

TEST_F(StreamsTest, ScriptsOfOneShellAreTwoJobs) {
  const uint32_t shell = fake_.Spawn(0, "bash", 1'000'000);
  const auto a = Read(1, fake_.Spawn(shell, "python train.py", 2'000'000));
  const auto b = Read(2, fake_.Spawn(shell, "python train.py", 2'000'000));
  EXPECT_NE(a.job, b.job);
}

TEST_F(StreamsTest, RanksAreOneJobUnlessOneIsTakenTwice) {
  const uint32_t shell = fake_.Spawn(0, "bash", 1'000'000);
  uint32_t ranks[3];
  for (uint32_t i = 0; i < 3; i++) {
    ranks[i] = fake_.Spawn(shell, "python train.py", 2'000'000);
    fake_.SetLaunch(ranks[i], {.launch = 3, .rank = i % 2, .world_size = 2});
  }
  const JobId job = Read(1, ranks[0]).job;
  EXPECT_EQ(Read(2, ranks[1]).job, job);
  EXPECT_NE(Read(3, ranks[2]).job, job) << "there is a rank 0 already, and it lives";
}

TEST_F(StreamsTest, AReadAndItsOpenAreOneRead) {
  const uint32_t script = fake_.Spawn(0, "python", 1'000'000);
  const auto read = Read(7, script);
  const auto open = Open(7, 5000);
  EXPECT_FALSE(open.read);
  const StreamOpen opened = open.open.value_or(StreamOpen());
  EXPECT_EQ(opened.job, read.job);
  EXPECT_EQ(opened.stream, read.stream);
  EXPECT_EQ(opened.unattributed, 0U);
  // Opened once more at once: it is still the same.
  const auto again = Open(7, 6000);
  EXPECT_FALSE(again.read || again.open);
}

TEST_F(StreamsTest, AnOpenBeforeItsReadGetsItsNameLater) {
  const uint32_t script = fake_.Spawn(0, "python", 1'000'000);
  const JobId job = Read(1, script).job;
  const auto open = Unattributed(7, 5000);
  EXPECT_EQ(open.job, job) << "nobody else reads";
  EXPECT_EQ(open.stream, 0U);
  const auto read = Read(7, script, 9000);
  EXPECT_TRUE(read.named);
  EXPECT_EQ(read.named_job, job);
  EXPECT_FALSE(Read(7, script, 9'000'000).named);
}

TEST_F(StreamsTest, ARepetitionAtOnceIsNoRead) {
  const uint32_t script = fake_.Spawn(0, "python", 1'000'000);
  EXPECT_FALSE(Read(7, script).again);
  EXPECT_TRUE(Read(7, script, 100).again);
  EXPECT_FALSE(Read(7, fake_.Fork(script, 1'500'000), 200).again) << "another process";
  for (EntryNumber file = 10; file < 30; file++) Read(file, script, 300);
  EXPECT_FALSE(Read(7, script, 400).again);
}

TEST_F(StreamsTest, OpensOfNobodyGoToTheOnlyJobOrToNone) {
  const uint32_t shell = fake_.Spawn(0, "bash", 1'000'000);
  EXPECT_EQ(Unattributed(1).job, 0U);
  const JobId job = Read(2, fake_.Spawn(shell, "python", 2'000'000)).job;
  EXPECT_EQ(Unattributed(3).job, job);
  const uint32_t other = fake_.Spawn(shell, "python", 2'000'000);
  Read(4, other);
  EXPECT_EQ(Unattributed(5).job, 0U);
  EXPECT_EQ(Unattributed(6).unattributed, 3U);
  EXPECT_EQ(streams_.UnattributedBefore(kNow), 0U);
  EXPECT_EQ(streams_.UnattributedBefore(kNow + 1), 4U);
  // The other one has gone.
  fake_.End(other, kNow + 1);
  fake_.SetNow(kNow + 1'000'000);
  EXPECT_EQ(streams_.TakeEnded().size(), 1U);
  EXPECT_EQ(Unattributed(8, 1'000'000).job, job);
}

TEST_F(StreamsTest, AJobThatIsSilentDoesNotTakeOpensFromTheOther) {
  const uint32_t shell = fake_.Spawn(0, "bash", 1'000'000);
  Read(1, fake_.Spawn(shell, "python", 2'000'000));
  const JobId job = Read(2, fake_.Spawn(shell, "python", 2'000'000), 2 * Streams::kActiveUs).job;
  EXPECT_EQ(Unattributed(3, 2 * Streams::kActiveUs).job, job);
}

// Any of them may have been of any stream.
TEST_F(StreamsTest, LostAccessesCountAsReadsOfNobody) {
  const uint32_t script = fake_.Spawn(0, "python", 1'000'000);
  (void)Read(1, script);
  ASSERT_TRUE(Open(1, 10).open);
  streams_.Missed(7000, kNow + 20);
  (void)Read(2, script, 30);
  const Streams::Attribution attribution = Open(2, 40);
  ASSERT_TRUE(attribution.open);
  EXPECT_EQ(attribution.open->unattributed, 7000U);
  EXPECT_EQ(Unattributed(3, 50).unattributed, 7000U);
  EXPECT_EQ(streams_.UnattributedBefore(kNow + 60), 7001U);
  EXPECT_LT(streams_.UnattributedBefore(kNow + 10), 7000U);
}

TEST_F(StreamsTest, InvisibleReadersAreJobZero) {
  const auto read = Read(1, 0);
  EXPECT_EQ(read.job, 0U);
  EXPECT_EQ(read.stream, 0U);
  EXPECT_TRUE(Open(1, 1000).open);
  Read(2, fake_.Spawn(0, "python", 1'000'000));
  EXPECT_EQ(Unattributed(3, 1000).job, 0U) << "it may be theirs";
}

TEST_F(StreamsTest, AJobEndsWithItsLastProcess) {
  const uint32_t script = fake_.Spawn(0, "python", 1'000'000);
  const uint32_t worker = fake_.Fork(script, 2'000'000);
  const JobId job = Read(1, worker).job;
  fake_.End(worker, kNow + 10);
  fake_.SetNow(kNow + 100);
  EXPECT_TRUE(streams_.TakeEnded().empty()) << "the next epoch has other workers";
  fake_.End(script, kNow + 200);
  fake_.SetNow(kNow + 300);
  EXPECT_EQ(streams_.TakeEnded(), std::vector<JobId>{job});
  EXPECT_TRUE(streams_.TakeEnded().empty());
}

TEST_F(StreamsTest, OfTooManyJobsTheOneThatWasSilentLongestGoes) {
  const uint32_t shell = fake_.Spawn(0, "bash", 1'000'000);
  const JobId first = Read(1, fake_.Spawn(shell, "cat", 1'500'000)).job;
  for (uint32_t i = 0; i < Streams::kJobsMax; i++) {
    EXPECT_TRUE(streams_.TakeForgotten().empty());
    Read(2 + i, fake_.Spawn(shell, "cat", 2'000'000));
  }
  EXPECT_EQ(streams_.TakeForgotten(), std::vector<JobId>{first});
}

}  // namespace
}  // namespace augur
