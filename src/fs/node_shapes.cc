// SPDX-License-Identifier: Apache-2.0
#include "fs/node_shapes.h"

#include <algorithm>
#include <string>

#include "fs/listing_offset.h"
#include "fs/resolve_in_view.h"

namespace augur {

// The generation that the mount has shown after so many others, as NodeNumbers counts them. Nothing: it is gone.
std::optional<uint64_t> NodeShapes::GenerationOf(uint64_t sequence) const {
  if (sequence == sequence_) return 0;
  const auto found = std::ranges::find(earlier_, sequence, &EarlierGeneration::sequence);
  if (found == earlier_.end() || found->store == nullptr) return std::nullopt;
  return found - earlier_.begin() + 1;
}

Result<NodeShape> NodeShapes::Of(NodeId id) const {
  const std::optional<Node> node = Node::FromId(id);
  if (!node) return NoSuchNode(id);
  if (const std::optional<ArchiveNode> archive = ArchiveNode::FromEntry(node->entry)) {
    const ViewRef view = views_ != nullptr ? views_->Get(node->view) : nullptr;
    if (view == nullptr || !view->spec.has_archives() || view->archives_number != node->view) return NoSuchNode(id);
    const std::optional<uint64_t> generation = GenerationOf(view->sequence);
    if (!generation) {
      return Status(Code::kIo, "an archive of a generation that was removed is still open: open it anew");
    }
    NodeShape shape = {.entry = {}, .view = view, .store = store_, .generation = *generation, .archive = archive};
    if (!shape.is_shown()) shape.store = earlier_[shape.generation - 1].store;
    AUGUR_TRY_ASSIGN(folder, shape.store->Get(archive->folder));
    if (folder.type != EntryType::kDirectory) return NoSuchNode(id);
    shape.entry = folder;
    return shape;
  }
  const std::optional<NodeNumbers::Place> place = numbers_.Find(node->entry);
  if (!place) return NoSuchNode(id);
  NodeShape shape = {
      .entry = {}, .number = node->entry, .store = store_, .generation = place->generation, .archive = {}};
  if (!shape.is_shown()) {
    const EarlierGeneration& earlier = earlier_.at(shape.generation - 1);
    if (earlier.store == nullptr) {
      return Status(Code::kIo, "a file of generation " + std::to_string(earlier.number) +
                                   " is still open, and that was removed: open the file anew");
    }
    shape.store = earlier.store;
  }
  if (node->view != 0) {
    shape.view = views_ != nullptr ? views_->Get(node->view) : nullptr;
    if (shape.view == nullptr) return NoSuchNode(id);
  } else if (views_ != nullptr && views_->root() != nullptr) {
    if (id != kRootNode) return NoSuchNode(id);  // the original files are nowhere in this mount
    shape.view = views_->root();
  }
  AUGUR_TRY_ASSIGN(entry, shape.store->Get(place->entry));
  if (shape.view != nullptr && RoleInView(shape.view->spec, entry) == Shown::kAbsent) return NoSuchNode(id);
  shape.entry = entry;
  // A folder of a view of an earlier generation: as one that was removed.
  const bool is_folder = entry.type == EntryType::kDirectory;
  if (is_folder && shape.has_archives() && shape.view->sequence != sequence_ && shape.is_shown()) {
    const std::optional<uint64_t> generation = GenerationOf(shape.view->sequence);
    if (!generation) return NoSuchNode(id);
    shape.generation = *generation;
  }
  return shape;
}

Result<uint64_t> NodeShapes::PlaceAt(const Entry& directory, uint64_t offset) const {
  if (offset <= 2) return 0;
  const ListingOffset begun = ListingOffset::Of(offset);
  const uint64_t place = begun.place - std::min<uint64_t>(begun.place, 2);
  const uint64_t shown = sequence_ & ListingOffset::kSequenceMax;
  if (begun.sequence == shown) return place;
  for (const EarlierGeneration& earlier : earlier_) {
    const bool is_that = begun.sequence == (earlier.sequence & ListingOffset::kSequenceMax);
    if (is_that && earlier.store != nullptr) return PlaceAfterReload(*earlier.store, *store_, directory, place);
  }
  return begun.sequence < shown ? place : directory.size;
}

}  // namespace augur
