// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"

namespace augur {

// VirtualFolder is the folder .augur at the root of a mount: files whose bytes are made when they are looked up. The
// kernel keeps the bytes read of a node for as long as it likes. So each lookup makes a new node, whose bytes never
// change, and which lives until the kernel forgets it. At most kLiveMax of each file are kept. For one more, the oldest
// one goes of the user who has the most of that file, whether he has it open or not. So who keeps many open loses his
// own. Safe from any thread. Owns the bytes. Not for files that are large or take long to make: a lookup waits for
// them.
class VirtualFolder {
 public:
  static constexpr std::string_view kName = ".augur";
  // Of each file. A reader needs one and the kernel throws away as many again while it looks for it; the rest is for
  // who keeps them open. 256 of some 10 KB.
  static constexpr size_t kLiveMax = 256;

  // Bytes that stay as they are, and when they were made.
  struct Snapshot {
    std::string bytes;
    timespec made{};
  };
  struct Found {
    uint64_t entry = 0;
    std::shared_ptr<const Snapshot> snapshot;
  };

  // Numbers of nodes start at 1 + `first_number`; 0 is the folder.
  explicit VirtualFolder(uint64_t first_number) : next_(first_number + 1) {}

  // Adds a file. `make` is called by threads that answer requests: it must not wait. REQUIRES: no other thread yet.
  void Add(std::string name, std::function<std::string()> make);

  // Whether there is such a folder at all: it has files.
  bool present() const { return !files_.empty(); }
  size_t file_count() const { return files_.size(); }
  // REQUIRES: i < file_count().
  std::string_view file_name(size_t i) const { return files_[i].name; }

  // A new snapshot for a user. kNotFound: no such file.
  Result<Found> Lookup(std::string_view name, uint32_t user = 0);
  // The snapshot of an entry; nullptr when there is none, or it has been forgotten, or had to go for another one.
  std::shared_ptr<const Snapshot> Get(uint64_t entry) const;
  // The kernel has forgotten the entry. Who reads it still keeps its bytes.
  void Forget(uint64_t entry);

  // Snapshots that are kept.
  size_t live_count() const;

 private:
  struct File {
    std::string name;
    std::function<std::string()> make;
  };
  struct Live {
    size_t file = 0;
    uint32_t user = 0;  // who looked it up
    std::shared_ptr<const Snapshot> snapshot;
  };

  // Takes out the one that goes for another one of this file.
  Live TakeOldest(size_t file) AUGUR_REQUIRES(mu_);

  // Constant once the mount serves.
  std::vector<File> files_;

  mutable Mutex mu_;
  uint64_t next_ AUGUR_GUARDED_BY(mu_);
  std::vector<size_t> counts_ AUGUR_GUARDED_BY(mu_);     // of each file
  std::map<uint64_t, Live> live_ AUGUR_GUARDED_BY(mu_);  // by entry, the oldest first
};

}  // namespace augur
