// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "augur/status.h"
#include "base/mutex.h"

namespace augur {

// DefectSink passes what the threads of a full check find on to one caller, one call at a time. A text that was
// reported is not reported again: one bad block of the index spoils hundreds of entries, each of which finds it. Safe
// from any thread.
class DefectSink {
 public:
  // Each may be an empty function.
  DefectSink(const std::function<void(const Status&)>& on_defect, const std::function<void(uint64_t)>& on_progress,
             const std::function<bool()>& stopped)
      : on_defect_(on_defect), on_progress_(on_progress), stopped_(stopped) {}

  // Counts and passes on a failure; nothing happens on OK. True when `status` is OK.
  bool Passes(const Status& status) AUGUR_EXCLUDES(mu_) {
    if (status.ok()) return true;
    const MutexLock lock(mu_);
    if (texts_.contains(status.text())) return false;
    if (texts_.size() < kTextsMax) texts_.insert(status.text());
    ++defect_count_;
    if (on_defect_) on_defect_(status);
    return false;
  }

  // Adds to the record bytes that are done.
  void Advance(uint64_t bytes) AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    done_bytes_ += bytes;
    if (on_progress_) on_progress_(done_bytes_);
  }

  // Whether the check is to end before it is done.
  bool stopped() const { return stopped_ && stopped_(); }
  // kStopped when it is.
  Status GoesOn() const { return stopped() ? Status(Code::kStopped, "stopped") : Status::Ok(); }

  uint64_t defect_count() const AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    return defect_count_;
  }

 private:
  // About 1 MiB of texts. With more defects than that, some are told twice.
  static constexpr size_t kTextsMax = 8192;

  mutable Mutex mu_{LockRank::kOuter};  // the functions are called under it, and may lock
  const std::function<void(const Status&)> on_defect_ AUGUR_GUARDED_BY(mu_);
  const std::function<void(uint64_t)> on_progress_ AUGUR_GUARDED_BY(mu_);
  const std::function<bool()> stopped_;  // safe from any thread
  std::set<std::string> texts_ AUGUR_GUARDED_BY(mu_);
  uint64_t defect_count_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t done_bytes_ AUGUR_GUARDED_BY(mu_) = 0;
};

}  // namespace augur
