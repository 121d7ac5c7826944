// SPDX-License-Identifier: Apache-2.0
#include "readers/proc_source.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace augur {
namespace {

// As Look; all zero when nothing is found.
ProcessFacts Find(ProcSource& source, uint32_t thread) { return source.Look(thread).value_or(ProcessFacts()); }

uint64_t NowUs() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

// A child that does nothing until it is let go.
class Child {
 public:
  explicit Child(const char* program = nullptr) {
    if (pipe(pipe_.data()) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      close(pipe_[1]);
      if (program != nullptr) {
        dup2(pipe_[0], 0);
        execl("/bin/cat", program, nullptr);
      }
      char byte = 0;
      while (read(pipe_[0], &byte, 1) > 0) {
      }
      _exit(0);
    }
    close(pipe_[0]);
  }
  ~Child() {
    LetGo();
    if (!waited_) waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void LetGo() {
    if (pipe_[1] >= 0) close(pipe_[1]);
    pipe_[1] = -1;
  }
  // Ends, and stays as a zombie.
  void WaitForEnd() {
    LetGo();
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void Collect() {
    waitpid(pid_, nullptr, 0);
    waited_ = true;
  }
  uint32_t pid() const { return static_cast<uint32_t>(pid_); }

 private:
  std::array<int, 2> pipe_ = {-1, -1};
  pid_t pid_ = -1;
  bool waited_ = false;
};

TEST(ProcSourceTest, KnowsAForkedChild) {
  ProcSource source;
  const uint64_t before_us = NowUs();
  const Child child;
  const ProcessFacts facts = Find(source, child.pid());
  const ProcessFacts own = Find(source, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(facts.pid, child.pid());
  EXPECT_EQ(facts.parent, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(facts.command, own.command) << "forked without exec";
  // A tick is 10 ms, and is cut.
  EXPECT_GE(facts.start_us + 10'000, before_us);
  EXPECT_LE(facts.start_us, NowUs());
  EXPECT_LE(own.start_us, facts.start_us);
  EXPECT_FALSE(facts.launcher);
  EXPECT_FALSE(facts.helper);
}

TEST(ProcSourceTest, AnotherProgramHasAnotherCommand) {
  ProcSource source;
  const Child child("cat");
  const ProcessFacts own = Find(source, static_cast<uint32_t>(getpid()));
  // The exec comes some time after the fork.
  ProcessFacts facts = Find(source, child.pid());
  while (facts.pid != 0 && facts.command == own.command) facts = Find(source, child.pid());
  EXPECT_EQ(facts.parent, static_cast<uint32_t>(getpid()));
}

TEST(ProcSourceTest, AThreadIsOfItsProcess) {
  ProcSource source;
  std::atomic<uint32_t> id = 0;
  std::atomic<bool> go = false;
  std::thread thread([&] {
    id = static_cast<uint32_t>(gettid());
    while (!go) std::this_thread::yield();
  });
  while (id == 0) std::this_thread::yield();
  const ProcessFacts facts = Find(source, id);
  go = true;
  thread.join();
  EXPECT_NE(id, facts.pid);
  EXPECT_EQ(facts.pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(facts.start_us, Find(source, static_cast<uint32_t>(getpid())).start_us)
      << "the process's, not the thread's";
}

TEST(ProcSourceTest, WhoHasEndedIsNotThere) {
  ProcSource source;
  Child child;
  EXPECT_TRUE(source.Look(child.pid()));
  child.WaitForEnd();
  EXPECT_FALSE(source.Look(child.pid())) << "a zombie";
  child.Collect();
  EXPECT_FALSE(source.Look(child.pid()));
}

// A /proc of files, for command lines that a test cannot run.
class FakeProcTest : public testing::Test {
 protected:
  FakeProcTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "augur_proc_XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~FakeProcTest() override { std::filesystem::remove_all(root_); }

  ProcessFacts Find(uint32_t pid) { return ProcSource(root_).Look(pid).value_or(ProcessFacts()); }
  void Add(uint32_t pid, const std::string& command, const std::string& environment) {
    const std::filesystem::path folder = root_ / std::to_string(pid);
    std::filesystem::create_directory(folder);
    std::ofstream(folder / "status") << "Name:\tpython\nState:\tS (sleeping)\nTgid:\t" << pid << "\nPPid:\t1\n";
    // A name may look like the fields that follow it.
    std::ofstream(folder / "stat") << pid << " (py) S 9 (x) S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1 1\n";
    std::ofstream(folder / "cmdline") << command;
    std::ofstream(folder / "environ") << environment;
  }

  std::filesystem::path root_;
};

std::string Zeros(std::string words) {
  std::replace(words.begin(), words.end(), ' ', '\0');
  return words + '\0';
}

TEST_F(FakeProcTest, StartIsField22AfterTheName) {
  Add(1, Zeros("python train.py"), "");
  const ProcessFacts facts = Find(1);
  EXPECT_EQ(facts.start_us, uint64_t{123456} * 1'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK)));
}

TEST_F(FakeProcTest, KnowsLaunchersAndHelpers) {
  const std::pair<const char*, bool> launchers[] = {
      {"/usr/bin/python3 /usr/local/bin/torchrun --nproc-per-node 4 train.py", true},
      {"python -m torch.distributed.run --nproc-per-node 4 train.py", true},
      {"python -u -X dev /opt/bin/accelerate launch train.py", true},
      {"mpirun -n 4 python train.py", true},
      {"slurmstepd: [4711.0]", true},
      {"python train.py --logger composer", false},
      {"python torchrun_wrapper.py", false},
      {"bash", false},
  };
  uint32_t pid = 1;
  for (const auto& [command, launcher] : launchers) {
    Add(pid, Zeros(command), "");
    EXPECT_EQ(Find(pid).launcher, launcher) << command;
    EXPECT_FALSE(Find(pid).helper) << command;
    pid++;
  }
  Add(pid, Zeros("python -c from\x20multiprocessing.spawn\x20import --multiprocessing-fork"), "");
  EXPECT_TRUE(Find(pid).helper);
}

TEST_F(FakeProcTest, ReadsTheLaunch) {
  Add(1, "python", Zeros("WORLD_SIZE=4 XRANK=9 RANK=2 MASTER_ADDR=a MASTER_PORT=29500"));
  Add(2, "python", Zeros("RANK=3 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=29500"));
  Add(3, "python", Zeros("RANK=3 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=29501"));
  Add(4, "python", Zeros("RANK=5 WORLD_SIZE=4"));
  Add(5, "python", Zeros("SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_JOB_ID=8 SLURM_STEP_ID=0"));
  Add(6, "python", "");
  ProcSource source(root_);
  EXPECT_EQ(source.Launch(1).rank, 2U);
  EXPECT_EQ(source.Launch(1).world_size, 4U);
  EXPECT_EQ(source.Launch(1).launch, source.Launch(2).launch);
  EXPECT_NE(source.Launch(2).launch, source.Launch(3).launch);
  EXPECT_EQ(source.Launch(4).launch, 0U) << "no such rank";
  EXPECT_EQ(source.Launch(5).rank, 1U);
  EXPECT_EQ(source.Launch(6).launch, 0U);
  EXPECT_EQ(source.Launch(7).launch, 0U);
}

}  // namespace
}  // namespace augur
