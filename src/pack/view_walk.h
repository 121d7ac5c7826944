// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "augur/store.h"
#include "datasets/class_labels.h"
#include "pack/glob.h"
#include "views/view_names.h"
#include "views/view_role.h"
#include "views/view_spec.h"

namespace augur {

// One entry of the source, and what it is in the view.
struct ViewItem {
  Entry entry;
  std::string source_path;  // in the source, relative; empty: the root
  ViewRole role = ViewRole::kOriginal;
  std::string path;                       // in the view; of one that is absent, meaningless
  uint64_t size = 0;                      // of a file, in the view
  uint64_t place = 0;                     // in the listing of its folder
  bool too_long = false;                  // absent, because its name would be too long
  int32_t label = ClassLabels::kNoLabel;  // of an image, where the view's files have one
};

// ViewWalk goes through a store depth-first in path order, the root first, and says of each entry what a view makes of
// it. What the filter does not take is as if the source did not have it: it takes no name and no label from others
// either. Waits for pages of the index. Memory: 8 bytes for each entry of the folders from the root to where it is that
// the filter takes, where the view renames and the filter leaves something out. One thread. Not for bytes.
class ViewWalk {
 public:
  // REQUIRES: all three outlive it.
  ViewWalk(const Store& store, const ViewSpec& spec, const PathFilter& filter);

  // True: `item` is the next. False: that was the last. kCorrupt, kIo: of the index.
  Result<bool> Next(ViewItem* item);

 private:
  // A folder whose children are being visited.
  struct Level {
    Entry folder;
    std::string path;
    uint64_t position = 0;
    uint64_t taken = 0;                     // of the children before it, those that the filter takes
    std::unique_ptr<ViewNames> names = {};  // of all that it takes; nullptr: they stay
    std::optional<int32_t> label = {};      // of its files; none: they are in no class
  };

  bool Takes(const Entry& entry, const std::string& path) const;
  Result<bool> IsLeft(const Entry& entry, const std::string& path) const;
  Status Enter(const Entry& folder, std::string path);
  Result<ViewNames> NamesIn(const Entry& folder, const std::string& path) const;
  Status FillItem(const Level& level, uint64_t index, ViewItem* item) const;

  // Constant after construction.
  const Store& store_;
  const ViewSpec& spec_;
  const PathFilter& filter_;
  const ClassLabels labels_;

  std::vector<Level> levels_;
  bool begun_ = false;
};

}  // namespace augur
