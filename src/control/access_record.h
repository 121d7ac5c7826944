// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace augur {

// One file that a reader wanted, for a picture of an epoch.
struct SeenAccess {
  uint64_t time_us = 0;  // CLOCK_MONOTONIC
  uint32_t file = 0;     // its number in path order
  bool read = false;     // a READ, which the page cache could not serve; else an open
  bool operator==(const SeenAccess&) const = default;
};

// AccessRecord keeps the last accesses of readers while a client takes them ('augurctl report'). Safe from any thread.
// While no client does, an access costs one load of a flag, and there is no memory. Else it takes 256 KiB, and of more
// accesses than kAccessesMax between two calls of Take the oldest are lost, and counted. Not for finding orders: that
// is OrderPredictor's.
class AccessRecord {
 public:
  static constexpr size_t kAccessesMax = 16384;
  // In one answer.
  static constexpr size_t kPageMax = 4096;
  // Who has not asked for so long is gone.
  static constexpr uint64_t kPatienceUs = 30'000'000;

  // Called by the thread that calls Take when accesses begin to be kept. Before all others.
  void SetOnBegin(std::function<void()> on_begin) { on_begin_ = std::move(on_begin); }
  // Whether they are kept.
  bool on() const { return on_.load(std::memory_order_relaxed); }

  void Note(uint32_t file, bool read) {
    if (on()) Keep({.time_us = 0, .file = file, .read = read});
  }

  struct Page {
    std::vector<SeenAccess> accesses;
    uint64_t next = 0;  // for the next call
    uint64_t lost = 0;  // between `since` and the first of these
    bool more = false;  // there are more now
  };
  // Those from number `since` on; 0 at first. Begins to keep accesses if that was not so.
  Page Take(uint64_t since) AUGUR_EXCLUDES(mu_);

 private:
  void Keep(SeenAccess access);
  Page TakePage(uint64_t since);

  std::function<void()> on_begin_;  // constant once there are accesses
  std::atomic<bool> on_ = false;
  Mutex mu_;
  std::vector<SeenAccess> ring_ AUGUR_GUARDED_BY(mu_);
  uint64_t next_ AUGUR_GUARDED_BY(mu_) = 0;   // number of the next one; number N is at N modulo kAccessesMax
  uint64_t begin_ AUGUR_GUARDED_BY(mu_) = 0;  // number of the first one in this ring
  uint64_t taken_us_ AUGUR_GUARDED_BY(mu_) = 0;
};

// For augurctl, a JSON array of [time_us, file, 1 for a READ or 0].
std::string RenderAccesses(const std::vector<SeenAccess>& accesses);
// What RenderAccesses made. What has another form is left out.
std::vector<SeenAccess> ParseAccesses(std::string_view json);

}  // namespace augur
