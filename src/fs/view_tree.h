// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "augur/store.h"
#include "datasets/class_labels.h"
#include "fs/resolve_in_view.h"
#include "fs/view_table.h"

namespace augur {

// ViewTree is the tree of the store as a view shows it: which entries there are, and by what names. Safe from any
// thread; keeps nothing; waits for pages of the index and for nothing else. Not for bytes: RenderedFiles.
class ViewTree {
 public:
  // `labels`: of the store, and outlives it; without, images in no class seem to be in views whose files have a label.
  explicit ViewTree(std::shared_ptr<const Store> store, const ClassLabels* labels = nullptr)
      : store_(std::move(store)), labels_(labels) {}

  // The child of `directory` that has this name in the view. A view with archives has no files of the store.
  // kNotFound: none has. REQUIRES: `directory` is one.
  Result<Entry> Lookup(const View& view, const Entry& directory, std::string_view name) const;

  // The name of an entry in its folder. kNotFound: the view does not show it. REQUIRES: it is not the root.
  Result<std::string> NameOf(const View& view, const Entry& entry) const;

  // Hands out the children from `place` on, in the order in which the folder is listed, with their names in the view,
  // until `take` returns false. Places are those of the folder itself: what the view does not show leaves a gap.
  // REQUIRES: `directory` is one.
  using Take = std::function<bool(std::string_view name, const Entry& child, uint64_t place)>;
  Status List(const View& view, const Entry& directory, uint64_t place, const Take& take) const;

 private:
  Result<bool> IsInFolder(const View& view, const Entry& entry) const;

  const std::shared_ptr<const Store> store_;
  const ClassLabels* const labels_;
};

}  // namespace augur
