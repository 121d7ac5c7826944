// SPDX-License-Identifier: Apache-2.0
#include "fs/own_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <span>
#include <utility>

namespace augur {
namespace {

timespec Now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

// The milliseconds since 1970, cut to half of what an entry's number can be: a daemon that goes on with the mount of
// another one gives no number that the kernel may still have from that one.
uint64_t FirstSnapshotNumber(const timespec& now) {
  return (static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000) &
         (Node::kEntryMask >> 1);
}

}  // namespace

OwnFolder::OwnFolder(const NodeOwner& owner, ViewTable* views)
    : owner_(owner), started_(Now()), files_(FirstSnapshotNumber(started_)), views_(views) {}

std::optional<Node> OwnFolder::Own(NodeId id) {
  const std::optional<Node> node = Node::FromId(id);
  const bool own =
      node && (node->view == Node::kVirtualView || (node->view == Node::kViewsFolderView && node->entry == 0));
  return own ? node : std::nullopt;
}

NodeAttributes OwnFolder::AttributesOf(uint64_t entry, const VirtualFolder::Snapshot* snapshot) const {
  NodeAttributes attributes;
  attributes.node = Node{.view = Node::kVirtualView, .entry = entry}.id();
  attributes.mode = (entry == 0 ? S_IFDIR | 0555 : S_IFREG | 0444) & ~owner_.umask;
  attributes.uid = owner_.uid;
  attributes.gid = owner_.gid;
  const timespec& time = snapshot != nullptr ? snapshot->made : started_;
  attributes.mtime_sec = time.tv_sec;
  attributes.mtime_nsec = static_cast<uint32_t>(time.tv_nsec);
  if (snapshot != nullptr) attributes.size = snapshot->bytes.size();
  attributes.lasting = entry == 0;
  return attributes;
}

NodeAttributes OwnFolder::ViewsAttributes() const {
  NodeAttributes attributes = Attributes();
  attributes.node = ViewsNode();
  return attributes;
}

Result<NodeAttributes> OwnFolder::AttributesOf(const Node& node) const {
  if (node.view == Node::kViewsFolderView) {
    if (views_ == nullptr) return NoSuchNode(node.id());
    return ViewsAttributes();
  }
  if (node.entry == 0) return Attributes();
  const std::shared_ptr<const VirtualFolder::Snapshot> snapshot = files_.Get(node.entry);
  if (snapshot == nullptr) return Status(Code::kNotFound, "no such snapshot");
  return AttributesOf(node.entry, snapshot.get());
}

Result<OwnFolder::Found> OwnFolder::Lookup(const Node& folder, std::string_view name, uint32_t user) {
  if (folder.entry != 0) return Status(Code::kInvalid, "not a directory");
  if (folder.view == Node::kVirtualView) {
    if (name == kViewsFolderName && views_ != nullptr) return Found{.attributes = ViewsAttributes(), .view = nullptr};
    AUGUR_TRY_ASSIGN(found, files_.Lookup(name, user));
    return Found{.attributes = AttributesOf(found.entry, found.snapshot.get()), .view = nullptr};
  }
  if (views_ == nullptr) return Status(Code::kNotFound, "this mount has no views");
  AUGUR_TRY_ASSIGN(view, views_->Find(name, 1, user));
  return Found{.attributes = {}, .view = std::move(view)};
}

Status OwnFolder::List(const Node& folder, uint64_t offset, const NodeAttributes& root, const TakeItem& take) const {
  if (folder.entry != 0) return {Code::kInvalid, "not a directory"};
  if (folder.view == Node::kVirtualView) {
    ListFiles(offset, root, take);
  } else if (views_ != nullptr) {
    ListViews(offset, take);
  } else {
    return NoSuchNode(folder.id());
  }
  return Status::Ok();
}

// Views are found by name alone: there are more than anybody could list, and the kernel would keep a listing.
void OwnFolder::ListViews(uint64_t offset, const TakeItem& take) const {
  if (offset == 0 && !take({.name = ".", .attributes = ViewsAttributes(), .next_offset = 1})) return;
  if (offset <= 1) take({.name = "..", .attributes = Attributes(), .next_offset = 2});
}

void OwnFolder::ListFiles(uint64_t offset, const NodeAttributes& root, const TakeItem& take) const {
  for (; offset < 2 + files_.file_count(); ++offset) {
    DirectoryItem item = {.name = ".", .attributes = Attributes(), .next_offset = offset + 1};
    if (offset == 1) {
      item.name = "..";
      item.attributes = root;
    } else if (offset > 1) {
      item.name = files_.file_name(offset - 2);
      item.attributes = AttributesOf(Node::kListedEntry - (offset - 2), nullptr);
    }
    if (!take(item)) break;
  }
}

Result<std::vector<FileSegment>> OwnFolder::Segments(const Node& file, uint64_t offset, uint64_t bytes) const {
  if (file.entry == 0) return Status(Code::kInvalid, "not a regular file");
  std::shared_ptr<const VirtualFolder::Snapshot> snapshot = files_.Get(file.entry);
  if (snapshot == nullptr) return Status(Code::kNotFound, "no such snapshot");
  const auto all = std::as_bytes(std::span(snapshot->bytes));
  std::vector<FileSegment> segments;
  if (offset < all.size() && bytes > 0) {
    const auto part = all.subspan(offset, std::min<uint64_t>(bytes, all.size() - offset));
    segments.emplace_back(MemorySegment{.owner = std::move(snapshot), .bytes = part});
  }
  return segments;
}

}  // namespace augur
