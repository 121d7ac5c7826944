// SPDX-License-Identifier: Apache-2.0
#include "prefetch/unplanned_pages.h"

#include <algorithm>
#include <utility>

namespace augur {

void UnplannedPages::Add(EntryNumber file) {
  if (followed_.empty()) followed_.resize(entry_count_);
  followed_[file] = true;
}

uint64_t UnplannedPages::files() const { return static_cast<uint64_t>(std::ranges::count(followed_, true)); }

std::vector<EntryNumber> UnplannedPages::Take(const Order& files) {
  std::vector<EntryNumber> taken;
  if (followed_.empty()) return taken;
  for (const EntryNumber file : files) {
    if (followed_[file]) taken.push_back(file);
    followed_[file] = false;
  }
  return taken;
}

UnplannedPages::Pages& UnplannedPages::Of(uint32_t view) {
  if (!others_.contains(view) && others_.size() >= kViewsMax) others_.clear();
  return others_[view];
}

void UnplannedPages::AddOther(uint32_t view, EntryNumber file, uint64_t bytes) {
  Pages& pages = Of(view);
  if (pages.files.empty()) pages.files.resize(entry_count_);
  if (pages.files[file]) return;
  pages.files[file] = true;
  pages.bytes += bytes;
}

void UnplannedPages::Suspend(uint32_t view, uint64_t bytes) {
  Of(view) = {.files = std::exchange(followed_, {}), .bytes = bytes};
}

void UnplannedPages::Resume(uint32_t view) {
  const auto found = others_.find(view);
  if (found == others_.end()) return Forget();
  followed_ = std::move(found->second.files);
  others_.erase(found);
}

uint64_t UnplannedPages::BytesBeside(uint32_t view) const {
  uint64_t bytes = 0;
  for (const auto& [other, pages] : others_) {
    if (other != view) bytes += pages.bytes;
  }
  return bytes;
}

}  // namespace augur
