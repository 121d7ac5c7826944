// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace augur {

// RunLengths remembers how long the last jobs of this mount were when they ended, and how many files they had read. How
// long a new one will be nobody knows; but where others had read as many as it has and ended soon after, it is likely
// to end so, too: whoever starts a process for each few files (xargs, a script a batch) is known by that, and a
// training that comes after him as soon as it has read more than his processes did. Clock-free; for one thread.
class RunLengths {
 public:
  static constexpr size_t kRemembered = 64;
  // So many jobs that had read as many are needed: a training that was begun and broken off three times says nothing.
  static constexpr size_t kEnough = 4;

  // A job has ended that had read so many files in so much time.
  void Ended(uint64_t reads, double seconds);
  // How long a job will be, from its first read on, that has read so many: the median of those that ended and had read
  // as many. None: too few had.
  std::optional<double> ExpectedSeconds(uint64_t reads) const;

 private:
  struct Length {
    uint64_t reads = 0;
    double seconds = 0;
  };
  std::deque<Length> ended_;
};

}  // namespace augur
