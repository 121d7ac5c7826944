// SPDX-License-Identifier: Apache-2.0
#include "far_nodes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace augur {
namespace {

constexpr uint64_t kRootId = 1;  // FUSE_ROOT_ID

FarNodes::Node* NodeOf(uint64_t id) { return reinterpret_cast<FarNodes::Node*>(id); }  // NOLINT: the id is its address

}  // namespace

FarNodes::FarNodes(UniqueFd root) { root_.fd = std::move(root); }

// The node stays while the kernel has a lookup of it, so no lock is needed to look at it.
const FarNodes::Node* FarNodes::Find(uint64_t id) const {
  if (id == kRootId) return &root_;
  const Node* const node = NodeOf(id);
  return node->epoch == epoch_ ? node : nullptr;
}

int FarNodes::LookUp(const Node& folder, const char* name, uint64_t* id, struct stat* attributes) {
  UniqueFd fd(::openat(folder.fd.get(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return errno;
  if (::fstatat(fd.get(), "", attributes, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0) return errno;
  const Key key = {.device = attributes->st_dev, .inode = attributes->st_ino, .epoch = epoch_};
  const MutexLock lock(mu_);
  std::unique_ptr<Node>& node = nodes_[key];
  if (node == nullptr) {
    node = std::make_unique<Node>(
        Node{.fd = std::move(fd), .device = key.device, .inode = key.inode, .epoch = key.epoch, .lookups = 0});
  }
  ++node->lookups;
  *id = reinterpret_cast<uint64_t>(node.get());
  return 0;
}

void FarNodes::Forget(uint64_t id, uint64_t lookups) {
  if (id == kRootId) return;
  const MutexLock lock(mu_);
  Node* const node = NodeOf(id);
  node->lookups -= lookups;
  if (node->lookups == 0) nodes_.erase({.device = node->device, .inode = node->inode, .epoch = node->epoch});
}

}  // namespace augur
