// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "base/mutex.h"
#include "pack/glob.h"
#include "pack/listing.h"
#include "pack/spool_file.h"
#include "pack/tree_source.h"

namespace augur {

struct WalkOptions {
  unsigned threads = 1;
  std::string scratch_folder;  // for temporary files
};

// Walk lists a source with several threads and hands out its items in path order (FORMAT.md section 5), beginning
// before it has seen everything. Symbolic links are not followed. Its own threads list and stat; Next is for one
// other thread.
// Of a folder of this system it holds one descriptor a thread. Memory: 2 MiB a thread, 8 bytes an item of the folders
// being listed, 16 bytes a folder, and the paths of the folders still to be listed. The rest is in a temporary file.
// `source` and `filter` must outlive it.
class Walk {
 public:
  enum class Step { kFound, kNotYet, kEnd };

  // A failure of the scratch folder.
  static Result<std::unique_ptr<Walk>> Start(const TreeSource& source, const PathFilter& filter,
                                             const WalkOptions& options);
  // Stops the threads at the next folder and waits for them.
  ~Walk();
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  // kFound: `found` is the next thing; a folder comes before its items, the source itself does not come. kNotYet,
  // only when `wait` is false: it has not been listed yet. kEnd: that was all. A failure is one of the scratch folder
  // or of FolderLister::List, and final.
  Result<Step> Next(bool wait, Found* found) AUGUR_EXCLUDES(mu_);

  // Whether everything has been seen; files() and bytes() are the whole then.
  bool complete() const { return complete_; }
  uint64_t files() const { return files_; }
  uint64_t bytes() const { return bytes_; }

 private:
  struct Pending {
    uint64_t number;
    std::string path;
  };
  struct Frame {
    size_t path_bytes;  // of the folder in path_
    uint64_t number;
    bool placed = false;
    uint64_t at = 0;  // in the spool
    uint64_t end = 0;
  };

  Walk(const TreeSource& source, const PathFilter& filter, WalkOptions options, std::unique_ptr<SpoolFile> spool);
  void Work() AUGUR_EXCLUDES(mu_);
  Result<Step> Enter(Frame& frame, bool wait) AUGUR_EXCLUDES(mu_);
  Status ReadItem(uint64_t at, FoundItem* item, std::string_view* name, std::string_view* text);

  // Constant after construction.
  const TreeSource& source_;
  const PathFilter& filter_;
  const WalkOptions options_;
  const std::unique_ptr<SpoolFile> spool_;  // own synchronization
  std::vector<std::thread> threads_;

  std::atomic<bool> stop_ = false;
  std::atomic<bool> complete_ = false;
  std::atomic<uint64_t> files_ = 0;
  std::atomic<uint64_t> bytes_ = 0;

  // Of the thread that calls Next.
  std::string path_;
  std::vector<Frame> frames_;
  std::vector<std::byte> buffer_;  // of the spool, from buffer_at_ on
  uint64_t buffer_at_ = 0;
  size_t buffer_bytes_ = 0;

  // Guarded by mu_.
  Mutex mu_;
  CondVar work_;    // a folder is pending, or nothing is left
  CondVar placed_;  // a listing is placed, or the walk has failed
  // One for each folder that was seen and is still to be listed. The last is listed next: the first in path order.
  std::vector<Pending> pending_ AUGUR_GUARDED_BY(mu_);
  std::vector<ListingPlace> places_ AUGUR_GUARDED_BY(mu_);  // by number of the folder
  unsigned busy_ AUGUR_GUARDED_BY(mu_) = 0;                 // threads that are listing
  Status failure_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
