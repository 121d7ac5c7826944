// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "augur/status.h"
#include "augur/store.h"
#include "prefetch/file_table.h"
#include "prefetch/view_file.h"
#include "prefetch/view_source.h"

namespace augur {

// ViewFiles are the files of the store as one view of the mount shows them. Safe from any thread, but for MeanPages and
// AllPages. REQUIRES: store and views outlive it.
class ViewFiles {
 public:
  // `views` may be nullptr: there are only the original files.
  ViewFiles(const Store& store, const ViewSource* views, uint32_t view)
      : store_(store), views_(views), view_(view), archived_(views != nullptr ? views->Archived(view) : nullptr) {}

  uint32_t view() const { return view_; }
  // They lie in archives: ViewFile::in_archive.
  bool in_archives() const { return archived_ != nullptr; }
  // As ArchivedFiles::WithNeighbours. REQUIRES: in_archives().
  NeighbourOrder WithNeighbours(const Order& order, uint64_t cached) const {
    return archived_->WithNeighbours(view_, order, cached);
  }
  // As ViewSource::FileInView.
  Result<ViewFile> FileOf(EntryNumber file) const;
  // As a FileTable tells it.
  FilePlace Place(EntryNumber file) const;
  // What a file takes of the page cache on average, about; and all of them together. One thread at a time.
  uint64_t MeanPages();
  uint64_t AllPages() { return store_.summary().file_count * MeanPages(); }

 private:
  uint64_t MeanBytes() const;

  const Store& store_;
  const ViewSource* const views_;
  const uint32_t view_;
  const ArchivedFiles* const archived_;
  uint64_t mean_bytes_ = 0;  // 0: not known
};

}  // namespace augur
