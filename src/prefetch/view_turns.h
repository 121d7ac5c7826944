// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "prefetch/view_orders.h"

namespace augur {

// ViewTurns decides which view of the mount is followed: another one is wanted when that alone is read, or when an
// order says that it is read next. The owner begins it when nothing is under way. Not synchronized.
class ViewTurns {
 public:
  // The view is followed from now on. Reads before this say nothing about its readers.
  void Begin(uint32_t view);

  // A file of the view was read. Whether it is the view that is followed.
  bool OnAccess(uint32_t view);
  // Wants the view that is read next, when that is known to be another. `at_end`: all orders of the view that is
  // followed were read; `predicted`, `unknown`: its order was predicted, or it has none.
  void LookAhead(bool at_end, bool predicted, bool unknown);
  // All that was read is forgotten.
  void ForgetReads() { reads_seen_ = reads_at_turn_ = 0; }

  uint32_t followed() const { return followed_; }
  uint32_t wanted() const { return wanted_; }
  bool turns() const { return wanted_ != followed_; }
  uint64_t reads_seen() const { return reads_seen_; }
  // Of views that are not followed now, and what comes behind them.
  ViewOrders& orders() { return orders_; }

 private:
  uint32_t followed_ = 0;
  uint32_t wanted_ = 0;           // in its place
  uint32_t elsewhere_ = 0;        // the last view that was read and is not followed
  uint64_t reads_elsewhere_ = 0;  // of it, since the last one of `followed_`
  uint64_t reads_seen_ = 0;       // of views that were followed
  uint64_t reads_at_turn_ = 0;    // of those, when this one began
  ViewOrders orders_;
};

}  // namespace augur
