// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "archives/archive_files.h"
#include "augur/status.h"
#include "datasets/neighbour_order.h"
#include "datasets/order.h"
#include "datasets/sample_list.h"

namespace augur {

// SharedPages says which images of archives have a page in common with the image before or behind them. The kernel
// reads whole pages. So who reads such an image alone reads some bytes of the other one, too, whose whole record has to
// be brought for them. Immutable, safe from any thread. Takes a byte a sample beside the list.
class SharedPages {
 public:
  // `list`: the images of the set, by place. Goes through all samples, in about a microsecond each. Failures of the
  // store.
  static Result<SharedPages> Make(const ArchiveFiles& set, std::shared_ptr<const SampleList> list);

  // The order, with the images beside a sample before it, where the page that they share is not there yet. `cached`:
  // the page cache has the pages of the `cached` samples that were read last. An image that is read itself within a few
  // samples, before or after, is left out, too: an order as they lie stays as it is.
  NeighbourOrder WithNeighbours(const Order& order, uint64_t cached) const;

 private:
  enum Side : uint8_t { kBefore = 1, kBehind = 2 };

  explicit SharedPages(std::shared_ptr<const SampleList> list) : list_(std::move(list)), sides_(list_->size()) {}

  const std::shared_ptr<const SampleList> list_;
  std::vector<uint8_t> sides_;  // by place, of Side
};

}  // namespace augur
