// SPDX-License-Identifier: Apache-2.0
#include "prefetch/read_meter.h"

#include "base/check.h"
#include "base/steady_time.h"

namespace augur {

uint64_t ReadMeter::Begin() {
  const uint64_t now_us = SteadyNowUs();
  const MutexLock lock(mu_);
  CountBusy(now_us);
  ++under_way_;
  return now_us;
}

void ReadMeter::End(uint64_t begun_us) {
  const uint64_t now_us = SteadyNowUs();
  statistics_.Record(Histogram::kDiskReadUs, now_us - begun_us);
  const MutexLock lock(mu_);
  AUGUR_CHECK(under_way_ > 0);
  CountBusy(now_us);
  --under_way_;
}

// Another thread may have looked at the clock before and come to the lock after.
void ReadMeter::CountBusy(uint64_t now_us) {
  if (now_us <= counted_us_) return;
  if (under_way_ > 0) statistics_.Add(Stat::kDiskBusyUs, now_us - counted_us_);
  counted_us_ = now_us;
}

}  // namespace augur
