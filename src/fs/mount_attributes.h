// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "augur/store.h"
#include "fs/archive_views.h"
#include "fs/node_attributes.h"
#include "fs/node_numbers.h"
#include "fs/node_shapes.h"
#include "fs/view_table.h"

namespace augur {

// MountAttributes makes the attributes with which a mount shows entries of the store and archives: as whose files, by
// which numbers, and as large as their view makes them. Safe from any thread. REQUIRES: what it is given outlives it.
class MountAttributes {
 public:
  // `archives`: nullptr where there are no views.
  MountAttributes(const NodeOwner& owner, const NodeNumbers& numbers, ArchiveViews* archives)
      : owner_(owner), numbers_(numbers), archives_(archives) {}

  // Of an entry of the generation that is shown. `view`: nullptr for the entry itself.
  NodeAttributes Of(const Entry& entry, const View* view) const {
    return Make(entry, view, numbers_.NumberOf(entry.number));
  }
  // Of a node. Failures: as ArchiveViews::Attributes.
  Result<NodeAttributes> OfNode(const NodeShape& shape) const;

 private:
  NodeAttributes Make(const Entry& entry, const View* view, uint64_t number) const;

  const NodeOwner owner_;
  const NodeNumbers& numbers_;
  ArchiveViews* const archives_;
};

}  // namespace augur
