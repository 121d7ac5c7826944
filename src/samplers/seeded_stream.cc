// SPDX-License-Identifier: Apache-2.0
#include "samplers/seeded_stream.h"

namespace augur {

SeededStream::SeededStream(uint32_t seed)
    : beginning_(seed), marks_{Mark{beginning_}, Mark{beginning_}, Mark{beginning_}, Mark{beginning_}} {}

Mt19937 SeededStream::At(uint64_t position) const {
  Mark mark = Nearest(position);
  if (mark.position == position) return mark.engine;
  mark.engine.Discard(position - mark.position);
  mark.position = position;
  const MutexLock lock(mu_);
  marks_[oldest_] = mark;
  oldest_ = (oldest_ + 1) % kMarks;
  return mark.engine;
}

SeededStream::Mark SeededStream::Nearest(uint64_t position) const {
  const MutexLock lock(mu_);
  const Mark* nearest = nullptr;
  for (const Mark& mark : marks_) {
    if (mark.position <= position && (nearest == nullptr || mark.position > nearest->position)) nearest = &mark;
  }
  return nearest == nullptr ? Mark{beginning_} : *nearest;
}

}  // namespace augur
