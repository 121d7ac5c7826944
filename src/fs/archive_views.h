// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "archives/archive_files.h"
#include "archives/touched_samples.h"
#include "augur/status.h"
#include "augur/store.h"
#include "fs/archive_node.h"
#include "fs/archive_tables.h"
#include "fs/file_segment.h"
#include "fs/node_attributes.h"
#include "fs/view_table.h"

namespace augur {

// A view with archives, and the generation whose images they hold.
struct ArchivePlace {
  ViewRef view;
  std::shared_ptr<const Store> store;
};

// A part of an archive, or of a file beside it.
struct ArchiveBytes {
  std::vector<FileSegment> segments;
  std::vector<TouchedSample> touched;       // of an archive
  std::shared_ptr<const ArchiveFiles> set;  // of these; nullptr: it is no archive
};

// ArchiveViews is what views with archives have beside the folders of the store: the archives, their names, sizes and
// bytes. Safe from any thread. No call waits but for pages of the index: each needs a table (TableFor..., Prepare), and
// gives its failure where that cannot be had. kBusy: the table was not there, because it was not prepared.
class ArchiveViews {
 public:
  // `bytes_max`: for tables.
  ArchiveViews(const NodeOwner& owner, uint64_t bytes_max) : owner_(owner), tables_(bytes_max) {}

  // Which table a call below needs. Nothing: none.
  static ArchiveTableName TableForNode(const ArchivePlace& place, const ArchiveNode& node);
  static Result<std::optional<ArchiveTableName>> TableForName(const ArchivePlace& place, const Entry& folder,
                                                              std::string_view name);
  static ArchiveTableName TableForListing(const ArchivePlace& place, const Entry& folder);

  // nullptr: it is not there. While the pin lives, it is.
  ArchiveTables::Pin FindTable(const ArchiveTableName& name) { return tables_.Find(name); }
  void Prepare(ArchiveTableName name, std::function<void()> then);

  Result<NodeAttributes> Attributes(const ArchivePlace& place, const ArchiveNode& node);
  // Of a link beside archives. kInvalid: it is none.
  static Result<std::string_view> LinkTarget(const ArchivePlace& place, const ArchiveNode& node);
  // The archive of this name in a folder of the store. kNotFound: there is none.
  Result<NodeAttributes> Lookup(const ArchivePlace& place, const Entry& folder, std::string_view name);
  // Hands out the archives in a folder from `first` on, until `take` returns false. A name is looked up anew at each
  // use, so an item's node is not handed out.
  using Take = std::function<bool(std::string_view name, const NodeAttributes& attributes, uint64_t place)>;
  Status List(const ArchivePlace& place, const Entry& folder, uint64_t first, const Take& take);
  // The same of a folder that has archives. Its names last, since it is of one generation. A file that is made of one
  // image has that image's own node in the view, and Item::image stands for it. kInvalid: no folder. kCorrupt: there
  // is a name, and the image behind it cannot be in a view.
  struct Item {
    NodeAttributes attributes;
    std::optional<Entry> image;  // then there are no attributes
  };
  Result<Item> LookupIn(const ArchivePlace& place, const ArchiveNode& node, std::string_view name);
  using TakeItem = std::function<bool(std::string_view name, const Item& item, uint64_t place)>;
  Status ListIn(const ArchivePlace& place, const ArchiveNode& node, uint64_t first, const TakeItem& take);
  // The folder of archives that the part is in; nothing: it is in a folder of the store. Failures: as Attributes.
  Result<std::optional<ArchiveNode>> FolderOf(const ArchivePlace& place, const ArchiveNode& node);
  // A part of an archive, cut at its end.
  Result<ArchiveBytes> Bytes(const ArchivePlace& place, const ArchiveNode& node, uint64_t offset, uint64_t bytes);

 private:
  Result<ArchiveTables::Pin> Table(const ArchiveTableName& name);
  // The table of a folder that has archives.
  Result<ArchiveTables::Pin> TableOfFolder(const ArchivePlace& place, const ArchiveNode& node);
  Result<Item> ShardItem(const ArchivePlace& place, const ArchiveFiles& files, const ArchiveNode& folder,
                         uint32_t shard);
  // Of which size is not known yet.
  Result<NodeAttributes> AttributesWithoutSize(const ArchivePlace& place, const ArchiveNode& node) const;

  const NodeOwner owner_;
  ArchiveTables tables_;
};

}  // namespace augur
