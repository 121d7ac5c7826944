// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "augur/store.h"
#include "fs/view_folders.h"
#include "fs/view_table.h"

namespace augur {

// What an entry of the store is in a view.
enum class Shown {
  kAbsent,    // not there
  kOriginal,  // itself, under its own name: folders, links, and files that pass through
  kRendered,  // an image, decoded
};
Shown ShownAs(const View& view, const Entry& entry);

// Bytes of the file in the view, without its pixels; of a link and a folder as Entry has it. REQUIRES: not absent.
uint64_t ShownSize(const View& view, const Entry& entry);

// ViewTree is the tree of the store as a view shows it: which entries there are, and by what names. Safe from any
// thread; waits for pages of the index and for nothing else. Not for bytes: RenderedFiles.
class ViewTree {
 public:
  // The names of folders take `names_bytes_max` at most, or as much as those of the largest folder do. REQUIRES: the
  // views outlive it.
  ViewTree(std::shared_ptr<const Store> store, uint64_t names_bytes_max);

  // The child of `directory` that has this name in the view. kNotFound: none has. REQUIRES: `directory` is one.
  Result<Entry> Lookup(const View& view, const Entry& directory, std::string_view name);

  // Hands out the children from `position` on, in the order of their original names, with their names in the view,
  // until `take` returns false. Positions are those of the folder itself: what the view does not show leaves a gap.
  // REQUIRES: `directory` is one.
  using Take = std::function<bool(std::string_view name, const Entry& child, uint64_t position)>;
  Status List(const View& view, const Entry& directory, uint64_t position, const Take& take);

 private:
  const std::shared_ptr<const Store> store_;
  ViewFolders folders_;  // own synchronization
};

}  // namespace augur
