// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "augur/status.h"
#include "augur/store.h"
#include "datasets/order.h"
#include "fs/view_table.h"
#include "fs/view_tree.h"

namespace augur {

// ViewPaths knows where the files of a store are in a mount with views, from outside: by their paths. One thread. For
// the helper process only; the daemon's own tables of views are in another process.
class ViewPaths {
 public:
  explicit ViewPaths(std::shared_ptr<const Store> store);

  // Paths are those of this view from now on; as MountView::SelectView. kInvalid: no such view can be.
  Status SelectView(uint32_t number, std::string_view spec, bool is_root);
  uint32_t selected() const { return selected_; }

  // Relative to the mount's root, "" is the root itself. kNotFound: the view has no such entry.
  Result<std::string> PathOf(EntryNumber entry);
  // The file of this name in a folder of a view that was selected before. kNotFound: there is none.
  Result<EntryNumber> FileIn(uint32_t view, EntryNumber folder, std::string_view name);

 private:
  struct Place {
    std::unique_ptr<const View> view;
    std::string prefix;  // of its paths
  };

  const std::shared_ptr<const Store> store_;
  ViewTree tree_;
  std::map<uint32_t, Place> places_;  // by number; none for view 0
  uint32_t selected_ = 0;
};

}  // namespace augur
