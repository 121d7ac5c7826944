// SPDX-License-Identifier: Apache-2.0
#include "io/read_engine.h"

#include "io/pread_engine.h"
#include "io/uring_engine.h"

namespace augur {

Result<std::unique_ptr<ReadEngine>> MakeReadEngine(EngineKind kind, unsigned depth) {
  if (depth < 1 || depth > UringEngine::kDepthMax) {
    return Status(Code::kInvalid, "reads in flight: " + std::to_string(depth) + " is not between 1 and " +
                                      std::to_string(UringEngine::kDepthMax));
  }
  if (kind == EngineKind::kPread) return PreadEngine::Make(depth, "asked for");
  Result<std::unique_ptr<ReadEngine>> uring = UringEngine::Make(depth);
  if (uring.ok() || kind == EngineKind::kUring) return uring;
  return PreadEngine::Make(depth, uring.status().text());
}

}  // namespace augur
