// SPDX-License-Identifier: Apache-2.0
#include "readers/process_table.h"

#include <utility>

namespace augur {
namespace {

// One number of two; 0 only by an accident of 2^-64.
uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t mixed = (a ^ (b * 0x9E3779B97F4A7C15)) * 0xBF58476D1CE4E5B9;
  mixed ^= mixed >> 29;
  return mixed;
}

}  // namespace

template <typename Value>
Value* ProcessTable::Halves<Value>::Find(uint32_t key, size_t half_max) {
  if (auto it = young.find(key); it != young.end()) return &it->second;
  auto it = old.find(key);
  if (it == old.end()) return nullptr;
  Value value = std::move(it->second);
  old.erase(it);
  Put(key, std::move(value), half_max);
  return &young.find(key)->second;
}

template <typename Value>
void ProcessTable::Halves<Value>::Put(uint32_t key, Value value, size_t half_max) {
  if (young.size() >= half_max && !young.contains(key)) {
    old = std::move(young);
    young.clear();
  }
  old.erase(key);
  young.insert_or_assign(key, std::move(value));
}

std::optional<ProcessFacts> ProcessTable::Ask(uint32_t thread) {
  lookups_++;
  return source_.Look(thread);
}

std::shared_ptr<const Process> ProcessTable::Of(uint32_t thread, uint64_t now_us) {
  if (thread == 0) return nullptr;
  Thread* const seen = threads_.Find(thread, kThreadsMax / 2);
  if (seen != nullptr && now_us <= seen->seen_us + kSilenceUs) {
    seen->seen_us = now_us;
    return seen->process;
  }
  const std::optional<ProcessFacts> facts = Ask(thread);
  std::shared_ptr<const Process> process;
  if (facts) {
    const std::shared_ptr<Process> found = FindOrMake(*facts, 0);
    AskLaunch(found.get());
    process = found;
  } else if (seen != nullptr) {
    process = seen->process;
  } else {
    auto gone = std::make_shared<Process>();
    gone->serial = ++last_serial_;
    gone->facts.pid = thread;
    process = gone;
  }
  threads_.Put(thread, {process, now_us}, kThreadsMax / 2);
  return process;
}

std::shared_ptr<Process> ProcessTable::FindOrMake(const ProcessFacts& facts, int depth) {
  std::shared_ptr<Process>* const found = processes_.Find(facts.pid, kProcessesMax / 2);
  if (found != nullptr && (*found)->facts.start_us == facts.start_us) return *found;

  auto process = std::make_shared<Process>();
  process->serial = ++last_serial_;
  process->facts = facts;
  process->known = true;
  if (facts.parent != 0 && depth < kAncestorsMax) {
    // Asked for, though it may be in the table: the pid there may have been another's.
    if (const std::optional<ProcessFacts> parent = Ask(facts.parent)) {
      process->parent = FindOrMake(*parent, depth + 1);
      const bool forked = facts.command != 0 && facts.command == parent->command;
      if ((forked || facts.helper) && !parent->launcher) {
        process->script = process->parent->script ? process->parent->script : process->parent;
      }
    }
  }
  processes_.Put(facts.pid, process, kProcessesMax / 2);
  return process;
}

void ProcessTable::AskLaunch(Process* reader) {
  // The table alone makes processes, and makes them mutable; those who were handed this script before know its launch.
  auto* const script = reader->script ? const_cast<Process*>(reader->script.get()) : reader;
  if (script->launch_asked) return;
  script->launch_asked = true;
  LaunchFacts launch = source_.Launch(script->facts.pid);
  // A launch of one process is none: such variables are also what is left in a shell of a batch system.
  if (launch.world_size < 2) launch = {};
  const Process* const parent = script->parent.get();
  if (parent != nullptr && (launch.launch != 0 || parent->facts.launcher)) {
    // The variables of one launch and of the next from the same place are equal, their launchers are not.
    launch.launch = Mix(launch.launch, parent->serial);
  }
  script->launch = launch;
}

bool ProcessTable::Gone(const Process& process) {
  if (!process.known) return true;
  const std::optional<ProcessFacts> facts = Ask(process.facts.pid);
  return !facts || facts->start_us != process.facts.start_us;
}

}  // namespace augur
