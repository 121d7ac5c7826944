// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "archives/archive_files.h"
#include "augur/store.h"
#include "base/mutex.h"
#include "fs/archive_listing.h"
#include "fs/view_table.h"

namespace augur {

// What a view has of a folder, of one generation.
struct ArchiveTable {
  Status status;                                // why there is neither
  std::shared_ptr<const ArchiveFiles> set;      // the folder's own archives
  std::shared_ptr<const ArchiveListing> items;  // the archives that lie in it
};

// Which table, and what it is made of.
struct ArchiveTableName {
  enum class Of { kArchives, kListing };

  ViewRef view;
  std::shared_ptr<const Store> store;
  EntryNumber folder = 0;
  Of of = Of::kArchives;
};

// ArchiveTables makes the tables of archives on a thread of its own, because to make one takes as long as to go through
// all images of a folder. It keeps the tables used last, within a number of bytes. A table that is too large for that
// number is a failure, which names the cure. While one is made it takes as much again. Those who wait for a table have
// no maximum here: each is a request that the kernel waits for. Safe from any thread.
// REQUIRES: every `then` has been called before it is destroyed.
class ArchiveTables {
 public:
  // Keeps a table, or the failure to make it, where Find has it.
  using Pin = std::shared_ptr<const ArchiveTable>;

  explicit ArchiveTables(uint64_t bytes_max) : bytes_max_(bytes_max) {}
  // Ends the thread.
  ~ArchiveTables();
  ArchiveTables(const ArchiveTables&) = delete;
  ArchiveTables& operator=(const ArchiveTables&) = delete;

  // nullptr: it is not there.
  Pin Find(const ArchiveTableName& name) AUGUR_EXCLUDES(mu_);
  // Calls `then` on the thread once the table is there, or why it cannot be; until `then` returns, Find has it. Or at
  // once, with the failure alone, where no thread can be started.
  void Make(ArchiveTableName name, std::function<void(const Pin&)> then) AUGUR_EXCLUDES(mu_);

 private:
  struct Key {
    uint32_t view = 0;  // of one generation (View::archives_number)
    EntryNumber folder = 0;
    ArchiveTableName::Of of = ArchiveTableName::Of::kArchives;
    auto operator<=>(const Key&) const = default;
  };
  struct Wanted {
    ArchiveTableName name;
    std::function<void(const Pin&)> then;
  };
  static Key KeyOf(const ArchiveTableName& name) {
    return {.view = name.view->archives_number, .folder = name.folder, .of = name.of};
  }

  void Run();
  Pin FindOrMake(const ArchiveTableName& name);
  Status Fill(const ArchiveTableName& name, ArchiveTable* table);
  Pin Keep(const Key& key, ArchiveTable table, uint64_t bytes) AUGUR_EXCLUDES(mu_);

  // Constant after construction.
  const uint64_t bytes_max_;

  struct Kept {
    Key key;
    Pin table;
    uint64_t bytes = 0;
  };
  struct Known {
    std::weak_ptr<const ArchiveTable> table;        // expired once no Pin has it
    std::optional<std::list<Kept>::iterator> kept;  // in kept_, where it is there
  };
  Mutex mu_;
  CondVar wake_;
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;
  std::deque<Wanted> wanted_ AUGUR_GUARDED_BY(mu_);  // one for each request that waits for a table
  std::list<Kept> kept_ AUGUR_GUARDED_BY(mu_);       // the last used first, at most bytes_max_ in all, or one
  uint64_t kept_bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  std::map<Key, Known> tables_ AUGUR_GUARDED_BY(mu_);
  std::thread thread_ AUGUR_GUARDED_BY(mu_);  // started when it is first needed
};

}  // namespace augur
