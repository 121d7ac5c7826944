// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "io/read_engine.h"

namespace augur {

// A real ReadEngine that counts its reads, and whose reads can be held up, or fail where the disk is said to be bad.
class FaultyEngine final : public ReadEngine {
 public:
  // A read, as it was asked for.
  struct Seen {
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };

  explicit FaultyEngine(std::unique_ptr<ReadEngine> base) : base_(std::move(base)) {}

  void Submit(ReadRequest request) override;
  std::string Description() const override { return base_->Description(); }

  // Reads that touch a byte of [begin, end) fail with EIO, after they were made.
  void Damage(uint64_t begin, uint64_t end);
  // All of it is good again.
  void Repair();
  // Reads end with so many bytes less than they have.
  void CutShort(uint64_t bytes);
  // From now on reads wait; until Release.
  void Hold();
  void Release();
  // Waits until a read waits that covers all of [begin, end): a first or last byte alone may be of a sector that the
  // neighbour's read has, too. False: not in time.
  bool WaitUntilHeld(uint64_t begin, uint64_t end) const;

  std::vector<Seen> seen() const;
  // The reads that covered all of [begin, end).
  uint64_t ReadsOf(uint64_t begin, uint64_t end) const;

 private:
  mutable std::mutex mu_;
  mutable std::condition_variable changed_;
  // Guarded by mu_:
  bool held_ = false;
  std::vector<ReadRequest> waiting_;
  std::vector<Seen> seen_;
  std::vector<Seen> damaged_;
  uint64_t cut_bytes_ = 0;

  std::unique_ptr<ReadEngine> base_;  // last: its end waits for reads that use the above
};

}  // namespace augur
