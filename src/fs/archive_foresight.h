// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "archives/archive_files.h"
#include "augur/store.h"
#include "control/statistics.h"
#include "datasets/neighbour_order.h"
#include "datasets/order.h"
#include "datasets/sample_list.h"
#include "fs/archive_node.h"
#include "fs/archive_orders.h"
#include "fs/archive_reads.h"
#include "fs/archive_views.h"
#include "prefetch/archived_files.h"
#include "prefetch/read_observer.h"

namespace augur {

// ArchiveForesight is what the prediction and the prefetch know of archives. It tells which samples of them READs ask
// for, in which order the samples lie, and what has to be read for one. Safe from any thread. REQUIRES: what it is
// given outlives it.
class ArchiveForesight final : public ArchivedFiles {
 public:
  ArchiveForesight(ReadObserver& observer, Statistics& statistics) : observer_(observer), statistics_(statistics) {}

  // A READ of an archive of a view, of the generation that is shown. Tells the observer of the samples that its reader
  // asks for, and of those that the page cache has after it, and does not wait.
  void OnRead(const ArchivePlace& place, const ArchiveNode& node, const ArchiveBytes& part,
              const ArchiveReads::Read& read);

  // As of ArchiveOrders.
  std::vector<std::shared_ptr<const SampleList>> Lists() const { return orders_.Lists(); }
  NeighbourOrder WithNeighbours(uint32_t view, const Order& order, uint64_t cached) const override {
    return orders_.WithNeighbours(view, order, cached);
  }

 private:
  // Own synchronization.
  ReadObserver& observer_;
  Statistics& statistics_;
  ArchiveReads reads_;
  ArchiveOrders orders_;
};

}  // namespace augur
