// SPDX-License-Identifier: Apache-2.0
#include "fs/mount_attributes.h"

#include "views/view_role.h"

namespace augur {

NodeAttributes MountAttributes::Make(const Entry& entry, const View* view, uint64_t number) const {
  NodeAttributes attributes;
  attributes.node = NodeIn(view, number);
  attributes.mode = entry.type == EntryType::kSymlink ? entry.mode : entry.mode & ~owner_.umask;
  attributes.uid = owner_.uid;
  attributes.gid = owner_.gid;
  if (entry.type != EntryType::kDirectory)
    attributes.size = view != nullptr ? SizeInView(view->spec, entry) : entry.size;
  attributes.mtime_sec = entry.mtime_sec;
  attributes.mtime_nsec = entry.mtime_nsec;
  return attributes;
}

Result<NodeAttributes> MountAttributes::OfNode(const NodeShape& shape) const {
  if (shape.archive) return archives_->Attributes(shape.archive_place(), *shape.archive);
  return Make(shape.entry, shape.view.get(), shape.number);
}

}  // namespace augur
