// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archives/archive_files.h"
#include "archives/archive_info.h"
#include "augur/store.h"
#include "datasets/order.h"
#include "views/view_spec.h"

namespace augur {

// ArchiveListing is which archives lie in a folder of a view. These are the archives of its sub-folders, in the root
// those of the root itself first, and files that say what these are. Indexes of TFRecord files are found by name alone.
// What the store has of the same name in the folder, and is shown, goes before an archive. Immutable, safe from any
// thread.
class ArchiveListing {
 public:
  // Gives the archives of a folder. nullptr: it has none, for a reason that was told.
  using Find = std::function<Result<std::shared_ptr<const ArchiveFiles>>(EntryNumber folder)>;
  // Waits for pages of the index. Failures of the store, and of `find`. REQUIRES: `folder` is one.
  static Result<ArchiveListing> Make(const Store& store, const Entry& folder, const ViewSpec& spec, const Find& find);

  uint64_t size() const { return count_; }
  // Files beside the archives, in the order of ArchiveInfoNames; none where there are no archives.
  const std::vector<ArchiveInfoFile>& info() const { return info_; }

  // Hands out the items from `place` on, until `take` returns false. `file`: as of ArchiveNode.
  using Take = std::function<bool(std::string_view name, EntryNumber folder, uint32_t file, uint64_t place)>;
  void ForEach(const ViewSpec& spec, uint64_t place, const Take& take) const;

  uint64_t memory_bytes() const;

 private:
  struct Folder {
    EntryNumber number = 0;
    std::string name;       // by which its archives are called
    uint32_t shards = 0;    // items
    bool is_whole = false;  // one item, the folder of its archives
  };

  std::vector<Folder> folders_;
  uint64_t count_ = 0;
  std::vector<ArchiveInfoFile> info_;
};

// The folder whose archives are called so in `directory`: a child, or the root itself. kNotFound: it has no such child.
Result<EntryNumber> FolderOfArchives(const Store& store, const Entry& directory, const ViewSpec& spec,
                                     std::string_view name);

// Whether the store has something in the folder by this name that a view with archives shows: a folder or a link.
Result<bool> ShowsOwn(const Store& store, const Entry& directory, std::string_view name);

}  // namespace augur
