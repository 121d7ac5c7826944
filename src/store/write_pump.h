// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "base/units.h"

namespace augur {

// WritePump writes large aligned buffers to files from its own threads, several at a time, so that whoever fills them
// hashes and copies meanwhile. One thread calls it; WaitUntil may be called from any.
//
// It bets on O_DIRECT: measured here, a buffered write costs 1.5 to 2.4 s of processor time a GB, mostly for pages that
// the page cache takes and gives back. A direct one costs 0.09 s. A direct write of 2 MiB at a time reached 0.93 GB/s,
// two in flight 1.8, four 2.2: so 3 threads, and one buffer more that is being filled. 4 buffers of 2 MiB are all the
// memory.
class WritePump {
 public:
  static constexpr size_t kBufferBytes = 2 * kMiB;
  static constexpr size_t kBufferCount = 4;
  static constexpr size_t kThreadCount = kBufferCount - 1;
  static constexpr size_t kAlign = 4096;  // of memory, offset and length, for O_DIRECT on every usual disk

  // Where a buffer goes. Both descriptors are the caller's and stay open until the write is over.
  struct Target {
    int direct_fd = -1;  // with O_DIRECT, or -1: then fd is used
    int fd = -1;
    std::string path;  // for messages
  };

  // kNoSpace: no memory or no thread to be had.
  static Result<std::unique_ptr<WritePump>> Start();
  // Waits for the end of the writes that were submitted.
  ~WritePump();
  WritePump(const WritePump&) = delete;
  WritePump& operator=(const WritePump&) = delete;

  // A buffer of kBufferBytes, aligned; waits for one. It is given back by Submit or GiveBack.
  Result<std::byte*> Take() AUGUR_EXCLUDES(mu_);
  void GiveBack(std::byte* buffer) AUGUR_EXCLUDES(mu_);
  // Writes the first `bytes` of a buffer to `offset`, both multiples of kAlign, and returns the number of the write.
  uint64_t Submit(std::byte* buffer, size_t bytes, const Target& target, uint64_t offset) AUGUR_EXCLUDES(mu_);
  // Waits until every write up to this number has reached the disk (direct) or the kernel. The first failure of any
  // write is returned here, and by Take, from then on.
  Status WaitUntil(uint64_t number) AUGUR_EXCLUDES(mu_);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  struct Job {
    std::byte* buffer;
    size_t bytes;
    Target target;
    uint64_t offset;
    uint64_t number;
  };

  WritePump() = default;
  void Run() AUGUR_EXCLUDES(mu_);
  bool IsOver(uint64_t number) const AUGUR_REQUIRES(mu_);

  std::array<std::unique_ptr<std::byte, Free>, kBufferCount> memory_;  // constant after construction

  Mutex mu_;
  CondVar changed_;
  std::vector<std::byte*> free_ AUGUR_GUARDED_BY(mu_);
  std::deque<Job> queue_ AUGUR_GUARDED_BY(mu_);            // kBufferCount at most: Take waits for a buffer
  std::vector<uint64_t> in_flight_ AUGUR_GUARDED_BY(mu_);  // numbers of writes that a thread is at
  uint64_t submitted_ AUGUR_GUARDED_BY(mu_) = 0;
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;
  Status status_ AUGUR_GUARDED_BY(mu_);

  std::vector<std::thread> threads_;
};

}  // namespace augur
