// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "io/read_engine.h"

namespace augur {

// A ReadEngine over several of one kind, each with a thread of its own, because `done` computes. It checks a record and
// copies it into the kernel. Measured with 16 readers of 110 KB files through a mount on two cores, at 11,900 files a
// second. The thread of a single ring was busy for 82 % of its core while 26 % of the machine was idle.
// A read goes to the engine with the fewest reads under way, to the first when several have as few; so a lone reader
// always meets the same thread. Order of submission holds within an engine only.
class SpreadEngine final : public ReadEngine {
 public:
  // REQUIRES: at least one engine.
  explicit SpreadEngine(std::vector<std::unique_ptr<ReadEngine>> engines);
  ~SpreadEngine() override;
  SpreadEngine(const SpreadEngine&) = delete;
  SpreadEngine& operator=(const SpreadEngine&) = delete;
  void Submit(ReadRequest request) override;
  std::string Description() const override;

 private:
  size_t Choose();
  void Ended(size_t engine);

  const std::vector<std::unique_ptr<ReadEngine>> engines_;  // constant after construction

  Mutex mu_;
  CondVar idle_;
  std::vector<size_t> under_way_ AUGUR_GUARDED_BY(mu_);  // by engine: submitted, and `done` has not returned
};

}  // namespace augur
