// SPDX-License-Identifier: Apache-2.0
#include "prefetch/watched_folders.h"

#include <vector>

namespace augur {

void WatchedFolders::Add(std::span<const EntryNumber> folders) {
  if (view_ == nullptr) return;
  std::vector<EntryNumber> added;
  for (const EntryNumber folder : folders) {
    if (folders_.insert(folder).second) added.push_back(folder);
  }
  if (!unwatched_ && !added.empty()) view_->Watch(added);
}

void WatchedFolders::Update(bool used) {
  const bool unwatched = !needed_ && !used;
  if (view_ == nullptr || unwatched == unwatched_) return;
  unwatched_ = unwatched;
  if (unwatched) return view_->Unwatch();
  const std::vector<EntryNumber> folders(folders_.begin(), folders_.end());
  if (!folders.empty()) view_->Watch(folders);
}

}  // namespace augur
