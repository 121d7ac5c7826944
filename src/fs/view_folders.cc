// SPDX-License-Identifier: Apache-2.0
#include "fs/view_folders.h"

#include <vector>

#include "views/shown_as.h"

namespace augur {
namespace {

// Of a name, at most: ViewNames.
constexpr uint64_t kNameBytes = 50;
// Of a folder, beside its names: nodes of the list and the map, vectors.
constexpr uint64_t kFolderBytes = 512;

}  // namespace

ViewFolders::ViewFolders(std::shared_ptr<const Store> store, uint64_t bytes_max)
    : store_(std::move(store)), bytes_max_(bytes_max) {}

Result<std::shared_ptr<const ViewNames>> ViewFolders::Get(const View& view, const Entry& directory) {
  const FolderRef folder = Find({view.number, directory.number});
  const MutexLock making(folder->making);
  if (folder->names != nullptr) return folder->names;
  AUGUR_TRY_ASSIGN(names, Make(view, directory));
  folder->names = names;
  Keep(*folder, kFolderBytes + names->size() * kNameBytes);
  return names;
}

ViewFolders::FolderRef ViewFolders::Find(const Key& key) {
  const MutexLock lock(mu_);
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    return recent_.front();
  }
  recent_.push_front(std::make_shared<Folder>());
  recent_.front()->key = key;
  by_key_.emplace(key, recent_.begin());
  return recent_.front();
}

Result<std::shared_ptr<const ViewNames>> ViewFolders::Make(const View& view, const Entry& directory) const {
  std::vector<ViewNames::Original> originals;
  originals.reserve(directory.size);
  for (uint64_t i = 0; i < directory.size; ++i) {
    AUGUR_TRY_ASSIGN(child, store_->Child(directory, i));
    originals.push_back({.name = child.name, .ending = ShownEnding(view.spec, child)});
  }
  return std::make_shared<const ViewNames>(std::move(originals));
}

void ViewFolders::Keep(Folder& folder, uint64_t bytes) {
  std::list<FolderRef> dropped;  // freed when no lock is held
  const MutexLock lock(mu_);
  const auto own = by_key_.find(folder.key);
  // Put out while it was worked out: who asked gets it, and it is not kept.
  if (own == by_key_.end() || own->second->get() != &folder) return;
  folder.bytes = bytes;
  bytes_ += bytes;
  while (bytes_ > bytes_max_ && recent_.size() > 1) {
    const auto last = std::prev(recent_.end());
    bytes_ -= (*last)->bytes;
    by_key_.erase((*last)->key);
    dropped.splice(dropped.begin(), recent_, last);
  }
}

uint64_t ViewFolders::kept_bytes() const {
  const MutexLock lock(mu_);
  return bytes_;
}

}  // namespace augur
