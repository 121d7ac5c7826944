// SPDX-License-Identifier: Apache-2.0
#include "fs/folder_listing.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "fs/listing_offset.h"
#include "fs/view_table.h"

namespace augur {

uint64_t FolderListing::OffsetAfter(uint64_t place) const {
  return ListingOffset{.sequence = tree_.sequence, .place = 2 + place + 1}.value();
}

// The folder that a folder lies in, as the same view shows it.
Result<NodeAttributes> FolderListing::Parent(const NodeShape& folder) const {
  const View* const view = folder.view.get();
  if (folder.archive) {
    AUGUR_TRY_ASSIGN(above, tree_.archives->FolderOf(folder.archive_place(), *folder.archive));
    if (above) return tree_.archives->Attributes(folder.archive_place(), *above);
    AUGUR_TRY_ASSIGN(parent, folder.store->Get(folder.entry.parent));
    return tree_.attributes.Of(parent, view);
  }
  if (!folder.is_shown()) return tree_.attributes.OfNode(folder);
  const bool is_view = view != nullptr && view->number != ViewTable::kRootNumber;
  if (is_view && folder.entry.number == 0) return tree_.own.ViewsAttributes();
  AUGUR_TRY_ASSIGN(parent, tree_.store.Get(folder.entry.parent));
  return tree_.attributes.Of(parent, view);
}

Status FolderListing::List(NodeId folder, uint64_t offset, const TakeItem& take) const {
  if (const std::optional<Node> own = OwnFolder::Own(folder)) {
    AUGUR_TRY_ASSIGN(root, tree_.shapes.Of(kRootNode));
    return tree_.own.List(*own, offset, tree_.attributes.Of(root.entry, root.view.get()), take);
  }
  AUGUR_TRY_ASSIGN(shape, tree_.shapes.Of(folder));
  const Entry& entry = shape.entry;
  const View* const view = shape.view.get();
  if (entry.type != EntryType::kDirectory) return {Code::kInvalid, "not a directory"};
  AUGUR_TRY_ASSIGN(itself, tree_.attributes.OfNode(shape));
  // Offset 0 is '.', 1 is '..', and 2 + place a child: in the first generation that a mount shows, the offset of an
  // item is a function of the store alone.
  if (offset == 0) {
    if (!take({.name = ".", .attributes = itself, .next_offset = 1})) return Status::Ok();
    offset = 1;
  }
  if (offset == 1) {
    AUGUR_TRY_ASSIGN(parent, Parent(shape));
    if (!take({.name = "..", .attributes = parent, .next_offset = 2})) return Status::Ok();
    offset = 2;
  }
  if (!shape.is_shown()) return Status::Ok();  // as any folder that was removed
  if (shape.archive) return ListInArchive(shape, offset, take);
  const ViewTree::Take take_child = [&](std::string_view name, const Entry& child, uint64_t place) {
    if (tree_.own.IsAt(folder, name)) return true;  // a listing hands out nodes, too
    return take({.name = name, .attributes = tree_.attributes.Of(child, view), .next_offset = OffsetAfter(place)});
  };
  AUGUR_TRY_ASSIGN(first, tree_.shapes.PlaceAt(entry, offset));
  if (shape.has_archives()) {
    const bool is_begun =
        offset > 2 && ListingOffset::Of(offset).sequence != (tree_.sequence & ListingOffset::kSequenceMax);
    // Which archives the program has had of another generation is not known.
    return is_begun && first == entry.size ? Status::Ok() : ListWithArchives(shape, first, take_child, take);
  }
  return view != nullptr ? tree_.views->List(*view, entry, first, take_child) : ListStore(entry, first, take_child);
}

// Of a folder that has archives. It is of one generation, so that a place means the same item always.
Status FolderListing::ListInArchive(const NodeShape& folder, uint64_t offset, const TakeItem& take) const {
  const uint64_t place = ListingOffset::Of(offset).place;
  const auto take_item = [&](std::string_view name, const ArchiveViews::Item& item, uint64_t at) {
    NodeAttributes attributes = item.image ? tree_.attributes.Of(*item.image, folder.view.get()) : item.attributes;
    attributes.lasting = false;  // a listing counts no nodes of two views
    return take({.name = name, .attributes = attributes, .next_offset = OffsetAfter(at)});
  };
  return tree_.archives->ListIn(folder.archive_place(), *folder.archive, place - std::min<uint64_t>(place, 2),
                                take_item);
}

// Of a folder of the store the folders and links first, then the archives, whose places follow.
Status FolderListing::ListWithArchives(const NodeShape& folder, uint64_t place, const ViewTree::Take& take_child,
                                       const TakeItem& take) const {
  const uint64_t children = folder.entry.size;
  bool goes_on = true;
  if (place < children) {
    AUGUR_TRY(tree_.views->List(*folder.view, folder.entry, place,
                                [&](std::string_view name, const Entry& child, uint64_t at) {
                                  goes_on = take_child(name, child, at);
                                  return goes_on;
                                }));
    place = children;
  }
  if (!goes_on) return Status::Ok();
  return tree_.archives->List(
      folder.archive_place(), folder.entry, place - children,
      [&](std::string_view name, const NodeAttributes& attributes, uint64_t at) {
        return take({.name = name, .attributes = attributes, .next_offset = OffsetAfter(children + at)});
      });
}

Status FolderListing::ListStore(const Entry& folder, uint64_t place, const ViewTree::Take& take_child) const {
  for (; place < folder.size; ++place) {
    AUGUR_TRY_ASSIGN(position, tree_.store.ListedPosition(folder, place));
    AUGUR_TRY_ASSIGN(child, tree_.store.Child(folder, position));
    if (!take_child(child.name, child, place)) break;
  }
  return Status::Ok();
}

}  // namespace augur
