// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "augur/store.h"
#include "fs/archive_views.h"
#include "fs/mount_attributes.h"
#include "fs/node.h"
#include "fs/node_attributes.h"
#include "fs/node_shapes.h"
#include "fs/own_folder.h"
#include "fs/view_tree.h"

namespace augur {

// What a FolderListing lists; all of it outlives it.
struct ListedTree {
  const Store& store;     // of the generation that is shown
  uint64_t sequence;      // as of FileSystemOptions
  const ViewTree* views;  // nullptr: there are no views
  ArchiveViews* archives;
  const NodeShapes& shapes;
  const OwnFolder& own;
  const MountAttributes& attributes;
};

// FolderListing lists the items of a folder of the mounted tree. Their order is this: '.' and '..', the children of the
// folder in the store by their names in the view, then archives. Safe from any thread. May wait for pages of the
// index, and for nothing else. Not for names: FileSystem::Lookup.
class FolderListing {
 public:
  explicit FolderListing(const ListedTree& tree) : tree_(tree) {}
  FolderListing(const FolderListing&) = delete;
  FolderListing& operator=(const FolderListing&) = delete;

  // As FileSystem::ReadDirectory, which tells of its failures.
  Status List(NodeId folder, uint64_t offset, const TakeItem& take) const;

 private:
  // The offset behind the item at a place, '.' and '..' not counted.
  uint64_t OffsetAfter(uint64_t place) const;
  Result<NodeAttributes> Parent(const NodeShape& folder) const;
  Status ListInArchive(const NodeShape& folder, uint64_t offset, const TakeItem& take) const;
  Status ListWithArchives(const NodeShape& folder, uint64_t place, const ViewTree::Take& take_child,
                          const TakeItem& take) const;
  Status ListStore(const Entry& folder, uint64_t place, const ViewTree::Take& take_child) const;

  const ListedTree tree_;
};

}  // namespace augur
