// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "augur/store.h"
#include "base/mutex.h"
#include "datasets/class_labels.h"
#include "fs/view_table.h"

namespace augur {

// What the images of a store are in a view, together.
struct ViewTotal {
  uint64_t images = 0;
  uint64_t bytes = 0;          // of their files in the view
  uint64_t largest_bytes = 0;  // what the largest of them takes to make, as most images are coded
};

// ViewTotals works out how large views are, from the index, without a pixel, once for each view.
// Safe from any thread; who asks waits for the walk, one at a time.
class ViewTotals {
 public:
  explicit ViewTotals(std::shared_ptr<const Store> store) : store_(std::move(store)), labels_(*store_) {}

  // kStopped: GiveUp was called. kCorrupt, kIo: of the index.
  Result<ViewTotal> Of(const View& view);
  // Ends the walk that is under way, and every later one.
  void GiveUp() { given_up_ = true; }

 private:
  const std::shared_ptr<const Store> store_;
  const ClassLabels labels_;
  std::atomic<bool> given_up_ = false;

  Mutex mu_{LockRank::kOuter};
  std::map<std::string, ViewTotal> known_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
