// SPDX-License-Identifier: Apache-2.0
#include "unit/readers/fake_processes.h"

#include <functional>

namespace augur {

uint32_t FakeProcesses::Spawn(uint32_t parent, const std::string& command, uint64_t start_us, bool launcher) {
  const uint32_t pid = next_pid_++;
  Life life;
  life.facts = {.pid = pid,
                .parent = parent,
                .start_us = start_us / kTickUs * kTickUs,
                .command = std::hash<std::string>()(command),
                .launcher = launcher};
  life.start_us = start_us;
  lives_.emplace(pid, life);
  return pid;
}

uint32_t FakeProcesses::Fork(uint32_t parent, uint64_t start_us) {
  const uint32_t pid = Spawn(parent, "", start_us);
  lives_.lower_bound(pid)->second.facts.command = lives_.lower_bound(parent)->second.facts.command;
  return pid;
}

void FakeProcesses::End(uint32_t pid, uint64_t end_us) { std::prev(lives_.upper_bound(pid))->second.end_us = end_us; }

uint32_t FakeProcesses::AddThread(uint32_t pid) {
  process_of_[next_pid_] = pid;
  return next_pid_++;
}

void FakeProcesses::SetLaunch(uint32_t pid, const LaunchFacts& launch) {
  lives_.lower_bound(pid)->second.launch = launch;
}

void FakeProcesses::SetHelper(uint32_t pid) { lives_.lower_bound(pid)->second.facts.helper = true; }

const FakeProcesses::Life* FakeProcesses::Living(uint32_t thread) const {
  const auto thread_of = process_of_.find(thread);
  const uint32_t pid = thread_of != process_of_.end() ? thread_of->second : thread;
  const auto [begin, end] = lives_.equal_range(pid);
  for (auto life = begin; life != end; ++life) {
    if (life->second.start_us <= now_us_ && now_us_ < life->second.end_us) return &life->second;
  }
  return nullptr;
}

std::optional<ProcessFacts> FakeProcesses::Look(uint32_t thread) {
  looks_++;
  const Life* const life = Living(thread);
  return life == nullptr ? std::nullopt : std::optional(life->facts);
}

LaunchFacts FakeProcesses::Launch(uint32_t pid) {
  const Life* const life = Living(pid);
  return life == nullptr ? LaunchFacts() : life->launch;
}

}  // namespace augur
