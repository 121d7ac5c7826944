// SPDX-License-Identifier: Apache-2.0
#include "io/spread_engine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace augur {

SpreadEngine::SpreadEngine(std::vector<std::unique_ptr<ReadEngine>> engines)
    : engines_(std::move(engines)), under_way_(engines_.size()) {
  AUGUR_CHECK(!engines_.empty());
}

// A `done` may submit to any engine, so none may go before all are idle.
SpreadEngine::~SpreadEngine() {
  const MutexLock lock(mu_);
  while (std::any_of(under_way_.begin(), under_way_.end(), [](size_t count) { return count > 0; })) idle_.Wait(mu_);
}

size_t SpreadEngine::Choose() {
  const MutexLock lock(mu_);
  const auto least = std::min_element(under_way_.begin(), under_way_.end());
  ++*least;
  return static_cast<size_t>(least - under_way_.begin());
}

void SpreadEngine::Ended(size_t engine) {
  // Notified under the lock: once it is released, the destructor may go on.
  const MutexLock lock(mu_);
  if (--under_way_[engine] == 0) idle_.NotifyAll();
}

void SpreadEngine::Submit(ReadRequest request) {
  const size_t engine = Choose();
  request.done = [this, engine, done = std::move(request.done)](int64_t result) {
    done(result);
    Ended(engine);
  };
  engines_[engine]->Submit(std::move(request));
}

std::string SpreadEngine::Description() const {
  return engines_[0]->Description() + (engines_.size() > 1 ? ", " + std::to_string(engines_.size()) + " rings" : "");
}

}  // namespace augur
