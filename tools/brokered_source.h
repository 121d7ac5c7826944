// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fuse/broker.h"
#include "readers/proc_source.h"

namespace augur {

// A ProcSource for a daemon that has given up the right to read the environment of readers: the broker reads it.
// REQUIRES: the broker outlives it.
class BrokeredSource final : public ProcessSource {
 public:
  explicit BrokeredSource(Broker& broker) : broker_(broker) {}
  std::optional<ProcessFacts> Look(uint32_t thread) override { return source_.Look(thread); }
  LaunchFacts Launch(uint32_t pid) override { return broker_.Launch(pid); }

 private:
  ProcSource source_;
  Broker& broker_;
};

}  // namespace augur
