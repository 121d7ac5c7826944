// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "readers/process_table.h"

namespace augur {

// ProcSource reads /proc. A look costs three small files, 30 to 60 us; nothing is kept. Of a process's environment,
// only the variables that a launcher sets are looked at (rank, world size, address of the first process). Where the
// system refuses it (another user's process), there are none.
class ProcSource : public ProcessSource {
 public:
  // `root` is another folder in tests.
  explicit ProcSource(std::string root = "/proc");

  std::optional<ProcessFacts> Look(uint32_t thread) override;
  LaunchFacts Launch(uint32_t pid) override;

 private:
  bool Read(uint32_t id, std::string_view name, size_t bytes_max, std::string* text) const;

  // Constant after construction.
  const std::string root_;
  const uint64_t tick_us_;  // unit of start times in /proc
};

}  // namespace augur
