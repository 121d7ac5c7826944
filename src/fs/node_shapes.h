// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "augur/store.h"
#include "datasets/class_labels.h"
#include "fs/archive_node.h"
#include "fs/archive_views.h"
#include "fs/node.h"
#include "fs/node_numbers.h"
#include "fs/view_table.h"
#include "prefetch/view_file.h"
#include "store/shard_source.h"

namespace augur {

// A generation that the mount has shown before: its files may still be open.
struct EarlierGeneration {
  uint64_t number = 0;
  uint64_t sequence = 0;               // as of FileSystemOptions
  std::shared_ptr<const Store> store;  // nullptr: it is gone, and its files give EIO
  ShardSource* source = nullptr;       // of the store; outlives the file system
};

// An entry as a node shows it.
struct NodeShape {
  Entry entry;
  ViewRef view = nullptr;  // nullptr: itself
  uint64_t number = 0;     // of the node
  std::shared_ptr<const Store> store;
  // As NodeNumbers counts them. Of an earlier one only programs that have it open can ask for it.
  uint64_t generation = 0;
  std::optional<ArchiveNode> archive;  // then `entry` is the folder that it is of
  bool is_shown() const { return generation == 0; }
  bool has_archives() const { return view != nullptr && view->spec.has_archives(); }
  bool has_labels() const { return view != nullptr && view->spec.has_labels(); }
  bool is_of_generation() const { return view != nullptr && view->spec.is_of_generation(); }
  ArchivePlace archive_place() const { return {.view = view, .store = store}; }
};

// NodeShapes says which entry a node is, of which generation of the store, and in which view; and which file that makes
// it. Safe from any thread; may wait for pages of the index. REQUIRES: what it is given outlives it.
class NodeShapes {
 public:
  // Of the generation that is shown, and those before it, as FileSystemOptions has them. `views` is nullptr where there
  // can be none.
  NodeShapes(std::shared_ptr<const Store> store, uint64_t sequence, const std::vector<EarlierGeneration>& earlier,
             const NodeNumbers& numbers, ViewTable* views);

  // kNotFound: no such node, as after a mount of another generation. kIo: of a generation that was removed.
  Result<NodeShape> Of(NodeId id) const;
  // The file that readers of the node see. Failures: as ResolveInView. REQUIRES: it is one, and no archive.
  Result<ViewFile> FileOf(const NodeShape& shape) const;
  // The place at which the listing of a folder of the store goes on. Which item a generation that is not known any more
  // had there is not known either: the place may be that of another one.
  Result<uint64_t> PlaceAt(const Entry& directory, uint64_t offset) const;

  // Of the generation that is shown.
  const ClassLabels& labels() const { return *labels_.front(); }

 private:
  std::optional<uint64_t> GenerationOf(uint64_t sequence) const;
  Status GoToGenerationOfView(NodeShape* file) const;

  const std::shared_ptr<const Store> store_;
  const uint64_t sequence_;
  const std::vector<EarlierGeneration>& earlier_;
  const NodeNumbers& numbers_;
  ViewTable* const views_;
  std::vector<std::unique_ptr<const ClassLabels>> labels_;  // by generation; nullptr: it is gone
};

}  // namespace augur
