// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>

#include "augur/store.h"
#include "base/mutex.h"
#include "fs/view_table.h"
#include "views/view_names.h"

namespace augur {

// ViewFolders has the names of folders in views that rename images. Those of one folder are worked out when they are
// first asked for, from all its entries, and kept as long as there is room: the least recently used go first, the last
// one asked for stays however large it is, and takes twice its room while it is worked out. Safe from any thread; who
// asks for a folder that is being worked out waits for that, which takes time linear in its entries. Waits for pages of
// the index and for nothing else.
class ViewFolders {
 public:
  // `bytes_max` bounds what is kept. REQUIRES: the views asked for outlive it.
  ViewFolders(std::shared_ptr<const Store> store, uint64_t bytes_max);
  ViewFolders(const ViewFolders&) = delete;
  ViewFolders& operator=(const ViewFolders&) = delete;

  // The names, the entry at position i being child i of `directory`. kCorrupt, kIo: of the index. REQUIRES: `directory`
  // is one, and view.spec.renames().
  Result<std::shared_ptr<const ViewNames>> Get(const View& view, const Entry& directory);

  // What is kept, for tests.
  uint64_t kept_bytes() const;

 private:
  using Key = std::pair<uint32_t, uint64_t>;  // number of the view, of the entry
  struct Folder {
    Key key;
    uint64_t bytes = 0;  // 0: not worked out yet
    Mutex making;        // held by who works it out
    std::shared_ptr<const ViewNames> names AUGUR_GUARDED_BY(making);
  };
  using FolderRef = std::shared_ptr<Folder>;

  FolderRef Find(const Key& key);
  Result<std::shared_ptr<const ViewNames>> Make(const View& view, const Entry& directory) const;
  void Keep(Folder& folder, uint64_t bytes);

  // Constant after construction.
  const std::shared_ptr<const Store> store_;
  const uint64_t bytes_max_;

  // Taken while a folder's `making` is held, never the other way round.
  mutable Mutex mu_;
  std::list<FolderRef> recent_ AUGUR_GUARDED_BY(mu_);  // the last one used first
  std::map<Key, std::list<FolderRef>::iterator> by_key_ AUGUR_GUARDED_BY(mu_);
  uint64_t bytes_ AUGUR_GUARDED_BY(mu_) = 0;
};

}  // namespace augur
