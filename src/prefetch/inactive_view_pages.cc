// SPDX-License-Identifier: Apache-2.0
#include "prefetch/inactive_view_pages.h"

namespace augur {

InactiveViewPages::Pages& InactiveViewPages::Of(uint32_t view) {
  if (!views_.contains(view) && views_.size() >= kViewsMax) views_.clear();
  return views_[view];
}

void InactiveViewPages::Put(uint32_t view, std::vector<bool> files, uint64_t bytes) {
  Of(view) = {.files = std::move(files), .bytes = bytes};
}

void InactiveViewPages::Add(uint32_t view, uint64_t file, uint64_t bytes) {
  Pages& pages = Of(view);
  if (pages.files.empty()) pages.files.resize(entry_count_);
  if (pages.files[file]) return;
  pages.files[file] = true;
  pages.bytes += bytes;
}

std::vector<bool> InactiveViewPages::Take(uint32_t view) {
  const auto found = views_.find(view);
  if (found == views_.end()) return {};
  std::vector<bool> files = std::move(found->second.files);
  views_.erase(found);
  return files;
}

uint64_t InactiveViewPages::BytesBeside(uint32_t view) const {
  uint64_t bytes = 0;
  for (const auto& [other, pages] : views_) {
    if (other != view) bytes += pages.bytes;
  }
  return bytes;
}

}  // namespace augur
