// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace augur {

// What a process was told by those who launched it as one of several: torchrun, mpirun, srun and the like.
struct LaunchFacts {
  uint64_t launch = 0;      // the same in all processes of the launch; 0: not part of one
  uint32_t rank = 0;        // among all processes of the launch, on all machines
  uint32_t world_size = 0;  // 0: not known, nor is the rank
};

// What the system knows of a process.
struct ProcessFacts {
  uint32_t pid = 0;
  uint32_t parent = 0;    // 0: none, or not visible
  uint64_t start_us = 0;  // CLOCK_BOOTTIME
  uint64_t command = 0;   // hash of the command line: equal to the parent's after a fork without exec
  // Runs on behalf of its parent although its command line is another: Python's spawn and forkserver.
  bool helper = false;
  // A program that starts the processes of a launch: torchrun, mpirun.
  bool launcher = false;
};

// ProcessSource answers from the system; in tests from a made-up tree. Safe from one thread at a time.
class ProcessSource {
 public:
  virtual ~ProcessSource() = default;
  // The process of a thread. None: it has gone, or is not visible.
  virtual std::optional<ProcessFacts> Look(uint32_t thread) = 0;
  // What a process knows of its launch; nothing when that may not be read.
  virtual LaunchFacts Launch(uint32_t pid) = 0;
};

// A process that read, or an ancestor of one. Does not change once a reader of the script was handed out.
struct Process {
  uint32_t serial = 0;  // from 1, never used again, unlike pids
  // As they were when it was first seen; pid is the thread's when the process had gone before that.
  ProcessFacts facts;
  bool known = false;                     // false: it had gone, all but the pid is 0
  std::shared_ptr<const Process> parent;  // at that time; nullptr: none known, or not asked for
  // The process for which this one reads: the script. It is the process itself, or the nearest ancestor that was not
  // merely forked off (workers of a DataLoader are).
  std::shared_ptr<const Process> script;  // nullptr: the process itself
  LaunchFacts launch;                     // of a script that has readers; of others see script
  bool launch_asked = false;

  const Process& Script() const { return script ? *script : *this; }
};

// ProcessTable knows the process of a thread. One thread at a time. It asks the source once for each new thread id, and
// again after the thread was silent for kSilenceUs. Its id may be another's by then (30,000 forks a second would be
// needed to be faster). A process that has been seen is remembered when it has gone. Memory: kThreadsMax threads of 60
// bytes and kProcessesMax processes of 250 bytes, at most 12 MB. Of more, those that were silent longest are forgotten.
// Pointers that were handed out stay valid.
class ProcessTable {
 public:
  static constexpr size_t kThreadsMax = 65536;
  static constexpr size_t kProcessesMax = 32768;
  static constexpr uint64_t kSilenceUs = 1'000'000;
  // From a worker to its script: forkserver, nested launchers.
  static constexpr int kAncestorsMax = 8;

  // REQUIRES: `source` outlives the table.
  explicit ProcessTable(ProcessSource* source) : source_(*source) {}

  // The process of a thread that reads now. nullptr: thread 0, which is not known.
  std::shared_ptr<const Process> Of(uint32_t thread, uint64_t now_us);
  // Whether the process is there no more; its pid may be another's. Asks the source. An unknown one is taken for gone.
  bool Gone(const Process& process);

  uint64_t lookups() const { return lookups_; }  // questions to the source about a thread or a process

 private:
  struct Thread {
    std::shared_ptr<const Process> process;
    uint64_t seen_us = 0;
  };
  // Two halves: a value that is used moves to the young one, which becomes the old one when it is full.
  template <typename Value>
  struct Halves {
    std::unordered_map<uint32_t, Value> young;
    std::unordered_map<uint32_t, Value> old;
    Value* Find(uint32_t key, size_t half_max);
    void Put(uint32_t key, Value value, size_t half_max);
  };

  std::optional<ProcessFacts> Ask(uint32_t thread);
  std::shared_ptr<Process> FindOrMake(const ProcessFacts& facts, int depth);
  void AskLaunch(Process* reader);

  ProcessSource& source_;
  Halves<Thread> threads_;
  Halves<std::shared_ptr<Process>> processes_;  // by pid
  uint32_t last_serial_ = 0;
  uint64_t lookups_ = 0;
};

}  // namespace augur
