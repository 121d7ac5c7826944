// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "pack/pack_observer.h"

namespace augur {

// ProblemLog hands everything on to another observer, and writes down each problem after which that one goes on. So a
// later run that takes over the packed files names the same problems. Threads as PackObserver.
class ProblemLog final : public PackObserver {
 public:
  // Removes the file `path`; the first problem makes it anew. REQUIRES: the observer outlives it.
  ProblemLog(std::string path, PackObserver& observer);
  // Tells `observer` of every problem in the file, until it does not go on: returns that. No file: there were none.
  static Status Replay(const std::string& path, PackObserver& observer);

  void OnPacked(uint64_t files, uint64_t bytes) override { observer_.OnPacked(files, bytes); }
  void OnTotal(uint64_t files, uint64_t bytes) override { observer_.OnTotal(files, bytes); }
  void OnLeftOut(const std::string& text) override { observer_.OnLeftOut(text); }
  void OnNotShown(const std::string& text) override { observer_.OnNotShown(text); }
  Status OnProblem(const Status& problem) override;
  bool stopped() const override { return observer_.stopped(); }

 private:
  const std::string path_;
  PackObserver& observer_;
  UniqueFd fd_;
  uint64_t end_ = 0;  // of the file
};

}  // namespace augur
