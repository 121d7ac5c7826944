// SPDX-License-Identifier: Apache-2.0
#include "fs/node_shapes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "fs/listing_offset.h"
#include "fs/resolve_in_view.h"

namespace augur {

NodeShapes::NodeShapes(std::shared_ptr<const Store> store, uint64_t sequence,
                       const std::vector<EarlierGeneration>& earlier, const NodeNumbers& numbers, ViewTable* views)
    : store_(std::move(store)), sequence_(sequence), earlier_(earlier), numbers_(numbers), views_(views) {
  labels_.push_back(std::make_unique<const ClassLabels>(*store_));
  for (const EarlierGeneration& one : earlier_) {
    labels_.push_back(one.store != nullptr ? std::make_unique<const ClassLabels>(*one.store) : nullptr);
  }
}

// The generation that the mount has shown after `sequence` others, as NodeNumbers counts them. Nothing: it is gone.
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
  shape.entry = entry;
  const bool is_folder = entry.type == EntryType::kDirectory;
  if (shape.has_labels() && entry.type == EntryType::kFile) AUGUR_TRY(GoToGenerationOfView(&shape));
  if (shape.view != nullptr && RoleInView(shape.view->spec, shape.entry) == ViewRole::kAbsent) return NoSuchNode(id);
  // A folder of a view of an earlier generation: as one that was removed.
  if (is_folder && shape.is_of_generation() && shape.view->sequence != sequence_ && shape.is_shown()) {
    const std::optional<uint64_t> generation = GenerationOf(shape.view->sequence);
    if (!generation) return NoSuchNode(id);
    shape.generation = *generation;
  }
  return shape;
}

// A file with a label has the bytes of the generation in which its view was looked up: that one's entry of the same
// path, though the node's number leads to a later one, in which other classes may be there.
Status NodeShapes::GoToGenerationOfView(NodeShape* file) const {
  const uint64_t sequence = file->is_shown() ? sequence_ : earlier_.at(file->generation - 1).sequence;
  if (file->view->sequence == sequence) return Status::Ok();
  const std::optional<uint64_t> generation = GenerationOf(file->view->sequence);
  if (!generation) {
    return {Code::kIo, "a file of a view of a generation that was removed is still open: open it anew"};
  }
  AUGUR_TRY_ASSIGN(path, file->store->PathOf(file->entry.number));
  file->generation = *generation;
  file->store = file->is_shown() ? store_ : earlier_.at(*generation - 1).store;
  AUGUR_TRY_ASSIGN(entry, file->store->Find(path));
  file->entry = entry;
  return Status::Ok();
}

Result<ViewFile> NodeShapes::FileOf(const NodeShape& shape) const {
  if (shape.view == nullptr) return ViewFile::Original(shape.entry);
  return ResolveInView(*shape.store, *shape.view, shape.entry, labels_.at(shape.generation).get());
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
