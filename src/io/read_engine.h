// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "augur/status.h"

namespace augur {

// One positional read. `done` is called exactly once, on a thread of the engine, with the number of bytes read, or with
// -errno. The number is less than `bytes` only at the end of the file. `done` must not block and may submit further
// reads. `data` and `fd` must stay valid until it is called.
struct ReadRequest {
  int fd = -1;
  uint64_t offset = 0;
  std::byte* data = nullptr;
  size_t bytes = 0;
  std::function<void(int64_t result)> done;
};

// ReadEngine does many reads at once. Submit is safe from any thread, never waits for the disk, and may be called from
// `done`. Reads over the engine's depth wait inside it, about in the order of submission. There is no maximum of them
// here, as each has memory of its caller, which has one. Short reads are continued inside the engine. The destructor
// waits until every `done` has returned. Bodies: io_uring, a pool of pread threads, and in tests a fake with faults.
class ReadEngine {
 public:
  virtual ~ReadEngine() = default;
  virtual void Submit(ReadRequest request) = 0;
  // What it is, and why, for the log: "io_uring", "pread pool: io_uring is forbidden here (EPERM ...)".
  virtual std::string Description() const = 0;
};

enum class EngineKind { kAuto, kUring, kPread };

// kAuto: io_uring, or the pread pool where io_uring is refused (the Description says why). `depth` is the number of
// reads in flight at most, `rings_max` that of threads that end them with io_uring; there is no more than one a core.
// kUnsupported: kUring was asked for and is refused; the text has cause and cure.
Result<std::unique_ptr<ReadEngine>> MakeReadEngine(EngineKind kind, unsigned depth, unsigned rings_max = 4);

}  // namespace augur
