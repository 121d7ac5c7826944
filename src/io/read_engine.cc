// SPDX-License-Identifier: Apache-2.0
#include "io/read_engine.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/cores.h"
#include "io/pread_engine.h"
#include "io/spread_engine.h"
#include "io/uring_engine.h"

namespace augur {
namespace {

// One ring for each core, up to four by default: a ring's thread checks and hands over 1.3 GB/s (SpreadEngine), so four
// are beyond any disk that we know.
Result<std::unique_ptr<ReadEngine>> MakeRings(unsigned depth, unsigned rings_max) {
  const unsigned count = std::min({rings_max, UsableCores(), depth});
  std::vector<std::unique_ptr<ReadEngine>> rings;
  for (unsigned i = 0; i < count; ++i) {
    AUGUR_TRY_ASSIGN(ring, UringEngine::Make(depth / count + (i < depth % count ? 1 : 0)));
    rings.push_back(std::move(ring));
  }
  return std::unique_ptr<ReadEngine>(std::make_unique<SpreadEngine>(std::move(rings)));
}

}  // namespace

Result<std::unique_ptr<ReadEngine>> MakeReadEngine(EngineKind kind, unsigned depth, unsigned rings_max) {
  if (depth < 1 || depth > UringEngine::kDepthMax) {
    return Status(Code::kInvalid, "reads in flight: " + std::to_string(depth) + " is not between 1 and " +
                                      std::to_string(UringEngine::kDepthMax));
  }
  if (kind == EngineKind::kPread) return PreadEngine::Make(depth, "asked for");
  Result<std::unique_ptr<ReadEngine>> uring = MakeRings(depth, rings_max);
  if (uring.ok() || kind == EngineKind::kUring) return uring;
  return PreadEngine::Make(depth, uring.status().text());
}

}  // namespace augur
