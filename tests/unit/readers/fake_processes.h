// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "readers/process_table.h"

namespace augur {

// FakeProcesses is a made-up tree of processes that live for a time. Answers as of the time it was told last.
class FakeProcesses : public ProcessSource {
 public:
  static constexpr uint64_t kForever = ~uint64_t{0};
  // As in Linux: start times are cut to ticks of 10 ms.
  static constexpr uint64_t kTickUs = 10'000;

  // A program that `parent` started (0: nobody we know of); returns its pid.
  uint32_t Spawn(uint32_t parent, const std::string& command, uint64_t start_us, bool launcher = false);
  // A child of `parent` that runs the same program.
  uint32_t Fork(uint32_t parent, uint64_t start_us);
  void End(uint32_t pid, uint64_t end_us);
  uint32_t AddThread(uint32_t pid);
  void SetLaunch(uint32_t pid, const LaunchFacts& launch);
  void SetHelper(uint32_t pid);
  // The next process gets this pid, though it had been another's.
  void Reuse(uint32_t pid) { next_pid_ = pid; }
  void SetNow(uint64_t now_us) { now_us_ = now_us; }
  uint64_t looks() const { return looks_; }

  std::optional<ProcessFacts> Look(uint32_t thread) override;
  LaunchFacts Launch(uint32_t pid) override;

 private:
  struct Life {
    ProcessFacts facts;
    LaunchFacts launch;
    uint64_t start_us = 0;
    uint64_t end_us = kForever;
  };

  const Life* Living(uint32_t thread) const;

  std::multimap<uint32_t, Life> lives_;      // by pid
  std::map<uint32_t, uint32_t> process_of_;  // thread: pid
  uint32_t next_pid_ = 1000;
  uint64_t now_us_ = 0;
  uint64_t looks_ = 0;
};

}  // namespace augur
