// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "augur/store.h"
#include "augur/store_writer.h"
#include "pack/glob.h"
#include "pack/pack_observer.h"
#include "views/view_spec.h"

namespace augur {

struct ViewPackOptions {
  std::string source;  // what the store was packed from, for messages
  ViewSpec spec;
  PathFilter filter;  // on paths of the store
  std::string store;  // the folder that the writer writes to
  bool resume = false;
  bool check_room = false;  // that the disk has room for all files
  unsigned decode_threads = 1;
};

// What makes the files of this view of this store, as WriterOptions::recipe.
std::string ViewRecipe(const ViewSpec& spec);

// Adds to `writer` the tree of `store` as the view shows it, in path order of the store: names, sizes and bytes are
// those of a mount with this view. Records are checked. Memory: what RenderWindow and ViewWalk say. A file that cannot
// be read or decoded is a problem, by its path in the source; one that the view does not show is told to OnNotShown.
// kCorrupt, kIo: of the store's index. kStopped: the observer said so. Otherwise what the observer made of a problem,
// or a failure of the writer.
Status PackView(const Store& store, const ViewPackOptions& options, StoreWriter& writer, PackObserver& observer);

}  // namespace augur
