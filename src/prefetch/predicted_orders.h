// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "datasets/epoch_order.h"

namespace augur {

// PredictedOrders takes orders that the daemon has found, as opposed to those that a user gives. Safe from any thread;
// nothing waits. Implemented by the Prefetcher; in tests by a fake.
class PredictedOrders {
 public:
  virtual ~PredictedOrders() = default;
  // These files are read from now on, in this order, in this view of the mount. `anew`: instead of the orders predicted
  // before; else behind them. While an order that was given is queued, that one is followed and this is forgotten.
  virtual void Predict(SharedOrder order, uint32_t view, bool anew) = 0;
  // Nothing is predicted any more.
  virtual void ForgetPredicted() = 0;
  // Whether the OrderPredictor has to know of opens. Where it need not, and no order is followed, folders need not be
  // watched.
  virtual void NeedOpens(bool needed) = 0;
  // Whether an order that was given is queued.
  virtual bool FollowsGiven() const = 0;
  // The most files that predicted orders may have in all.
  virtual uint64_t PredictedFilesMax() const = 0;
};

}  // namespace augur
