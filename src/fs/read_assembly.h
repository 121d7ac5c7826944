// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "control/statistics.h"
#include "fs/read_reply.h"

namespace augur {

// ReadAssembly is a read whose bytes come in parts. It collects them and replies once, in the order of the file, when
// all have come. Where a part has failed, it replies with the first failure in that order. Arrived may be called on
// several threads at a time, once for each part. REQUIRES: statistics outlive it.
class ReadAssembly {
 public:
  // REQUIRES: parts > 0.
  ReadAssembly(size_t parts, Statistics& statistics, ReadDone done)
      : done_(std::move(done)), statistics_(statistics), parts_(parts), pending_(parts) {}
  ReadAssembly(const ReadAssembly&) = delete;
  ReadAssembly& operator=(const ReadAssembly&) = delete;

  void Arrived(size_t part, Result<ReadReply> reply);
  // All parts have been asked for. If some are still to come, the time until the last one is a read_wait_us. A read
  // that has all of them by now costs no look at the clock.
  void Asked();

 private:
  Result<ReadReply> Join();

  // Constant after construction.
  const ReadDone done_;
  Statistics& statistics_;

  // Own synchronization: each part is written once, before its share of `pending_` is taken off.
  struct Part {
    Result<ReadReply> reply = ReadReply();
  };
  std::vector<Part> parts_;
  std::atomic<size_t> pending_;
  std::atomic<uint64_t> waits_since_us_ = 0;  // 0: it does not wait, or not yet
};

}  // namespace augur
