// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "fs/file_segment.h"
#include "fs/node.h"
#include "fs/node_attributes.h"
#include "fs/view_table.h"
#include "fs/virtual_folder.h"

namespace augur {

// OwnFolder is the folder .augur at the root of a mount, with its virtual files and, where there are views, the folder
// of views. It has nodes of its own, beside those of the store. Safe from any thread.
class OwnFolder {
 public:
  // `views` outlives it; nullptr: this mount has none.
  OwnFolder(const NodeOwner& owner, ViewTable* views);

  // Adds a file; see VirtualFolder::Add.
  void Add(std::string name, std::function<std::string()> make) { files_.Add(std::move(name), std::move(make)); }
  // Whether the mount has such a folder.
  bool present() const { return files_.present() || views_ != nullptr; }
  // Whether the name in this folder is .augur.
  bool IsAt(NodeId parent, std::string_view name) const {
    return parent == kRootNode && name == VirtualFolder::kName && present();
  }
  size_t live_snapshots() const { return files_.live_count(); }

  // The node, if it is one of these; those of views are not.
  static std::optional<Node> Own(NodeId id);
  static NodeId ViewsNode() { return Node{.view = Node::kViewsFolderView, .entry = 0}.id(); }

  // For all below: `node` is an own one. kNotFound, kInvalid: as FileSystem's methods.
  NodeAttributes Attributes() const { return AttributesOf(0, nullptr); }
  NodeAttributes ViewsAttributes() const;
  Result<NodeAttributes> AttributesOf(const Node& node) const;
  // What a name leads to: a node of this folder, or a view, of which the kernel then has one node more.
  struct Found {
    NodeAttributes attributes;
    ViewRef view;  // nullptr: the attributes are there
  };
  Result<Found> Lookup(const Node& folder, std::string_view name, uint32_t user);
  // `root`: the attributes of the root of the mount.
  Status List(const Node& folder, uint64_t offset, const NodeAttributes& root, const TakeItem& take) const;
  // The segments of a part of a file.
  Result<std::vector<FileSegment>> Segments(const Node& file, uint64_t offset, uint64_t bytes) const;
  // The kernel has forgotten the node.
  void Forget(const Node& node) { files_.Forget(node.entry); }

 private:
  NodeAttributes AttributesOf(uint64_t entry, const VirtualFolder::Snapshot* snapshot) const;
  void ListFiles(uint64_t offset, const NodeAttributes& root, const TakeItem& take) const;
  void ListViews(uint64_t offset, const TakeItem& take) const;

  // Constant after construction.
  const NodeOwner owner_;
  const timespec started_;

  // Own synchronization.
  VirtualFolder files_;
  ViewTable* const views_;
};

}  // namespace augur
