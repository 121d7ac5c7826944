// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "fs/read_reply.h"

namespace augur {

// ReadAssembly is a read whose bytes come in parts: it collects them and replies once, in the order of the file, when
// all have come; with the first failure in that order, where there is one. Arrived may be called on several threads at
// a time, once for each part.
class ReadAssembly {
 public:
  // REQUIRES: parts > 0.
  ReadAssembly(size_t parts, ReadDone done) : done_(std::move(done)), parts_(parts), pending_(parts) {}
  ReadAssembly(const ReadAssembly&) = delete;
  ReadAssembly& operator=(const ReadAssembly&) = delete;

  void Arrived(size_t part, Result<ReadReply> reply);

 private:
  Result<ReadReply> Join();

  // Constant after construction.
  const ReadDone done_;

  // Own synchronization: each part is written once, before its share of `pending_` is taken off.
  struct Part {
    Result<ReadReply> reply = ReadReply();
  };
  std::vector<Part> parts_;
  std::atomic<size_t> pending_;
};

}  // namespace augur
