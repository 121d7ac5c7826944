// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>

#include "unit/recorded_runs/replay_fixture.h"

namespace augur {
namespace {

constexpr int kNoMount = 77;  // exit status of a child that may not mount

class ReplayCrashTest : public ReplayTest {
 protected:
  // Every run that can be seen is whole, and is one of Shuffled(seed), Shuffled(seed + 1).
  static void ExpectWhole(const ReplayStore& store) {
    const auto list = store.List();
    ASSERT_TRUE(list.ok()) << list.status().text();
    for (const ReplayRun& run : *list) {
      const auto loaded = store.Load(run.name);
      if (!loaded.ok()) continue;  // removed meanwhile
      const auto seed = static_cast<unsigned>(std::stoul(loaded->finding));
      EXPECT_THAT(loaded->epochs, ::testing::ElementsAre(Shuffled(seed, 5000), Shuffled(seed + 1, 5000)));
    }
  }
  static augur::Run RunOf(unsigned seed) {
    return {.finding = std::to_string(seed), .epochs = {Shuffled(seed, 5000), Shuffled(seed + 1, 5000)}};
  }
};

TEST_F(ReplayCrashTest, AWriterKilledAtAnyTimeLeavesWholeRuns) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto reader = Open();
  const std::string name = ReplayStore::NewName();
  ASSERT_TRUE(reader->Save(name, RunOf(0)).ok());
  int killed = 0;
  for (int round = 0; round < 30; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto store = ReplayStore::Open(folder_, summary_);
      for (unsigned run = 0; store.ok() && run < 1000; ++run) {
        if (!(*store)->Save(name, RunOf(100 * run)).ok()) ::_exit(1);
      }
      ::_exit(store.ok() ? 0 : 1);
    }
    ::usleep(static_cast<useconds_t>(random() % 20'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    killed += WIFSIGNALED(status);
    ExpectWhole(*reader);
    EXPECT_TRUE(reader->Load(name).ok()) << "the run that was there before";
  }
  EXPECT_GT(killed, 0);
}

TEST_F(ReplayCrashTest, WritersAndReadersSideBySide) {
  std::vector<pid_t> children;
  for (unsigned writer = 0; writer < 2; ++writer) {
    children.push_back(::fork());
    if (children.back() == 0) {
      const auto store = ReplayStore::Open(folder_, summary_, {.store_runs_max = 5});
      if (!store.ok()) ::_exit(1);
      for (unsigned run = 0; run < 40; ++run) {
        if (!(*store)->Save(ReplayStore::NewName(), RunOf(1000 * writer + 2 * run)).ok()) ::_exit(2);
      }
      ::_exit(0);
    }
  }
  const auto reader = Open();
  for (int round = 0; round < 20; ++round) ExpectWhole(*reader);
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  ExpectWhole(*reader);
  const size_t left = reader->List()->size();
  EXPECT_GE(left, 1U);
  EXPECT_LE(left, 6U) << "five, and one that the other wrote meanwhile";
}

TEST_F(ReplayCrashTest, ThreadsSideBySide) {
  const auto store = Open({.store_runs_max = 5});
  std::vector<std::thread> threads;
  std::vector<Status> failures(4);
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (unsigned run = 0; run < 10; ++run) {
        const Status status = store->Save(ReplayStore::NewName(), RunOf(1000 * thread + 2 * run));
        if (!status.ok()) failures[thread] = status;
        static_cast<void>(store->Match(Shuffled(run, 5000)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& failure : failures) EXPECT_TRUE(failure.ok()) << failure.text();
  ExpectWhole(*store);
}

// Mounts a file system of `bytes` on `folder`, in a namespace of this process's own, so that nothing is left of it.
bool MountSmall(const std::string& folder, const std::string& bytes) {
  const uid_t uid = ::getuid();
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
  }
  (void)::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  return ::mount("tmpfs", folder.c_str(), "tmpfs", 0, ("mode=0700,size=" + bytes).c_str()) == 0;
}

TEST_F(ReplayCrashTest, AFullDiskIsToldAndLeavesWhatWasThere) {
  Open();
  const pid_t child = ::fork();
  if (child == 0) {
    if (!MountSmall(folder_, "300k")) ::_exit(kNoMount);
    const auto store = ReplayStore::Open(folder_, summary_);
    if (!store.ok()) ::_exit(1);
    const std::string name = ReplayStore::NewName();
    if (!(*store)->Save(name, RunOf(1)).ok()) ::_exit(2);
    // 20,000 entries of three bytes, six times.
    const augur::Run large{.finding = "",
                           .epochs = {Shuffled(1), Shuffled(2), Shuffled(3), Shuffled(4), Shuffled(5), Shuffled(6)}};
    if ((*store)->Save(ReplayStore::NewName(), large).code() != Code::kNoSpace) ::_exit(3);
    if ((*store)->Save(name, large).code() != Code::kNoSpace) ::_exit(4);
    const auto run = (*store)->Load(name);
    if (!run.ok() || run->epochs != RunOf(1).epochs) ::_exit(5);
    if (FileCount() != 1) ::_exit(6);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  (void)::umount2(folder_.c_str(), MNT_DETACH);  // EINVAL: it was the child's alone, and is gone
  ASSERT_TRUE(WIFEXITED(status)) << status;
  if (WEXITSTATUS(status) == kNoMount) GTEST_SKIP() << "may not mount here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace augur
