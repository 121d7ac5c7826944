// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "cache/decoded_cache.h"
#include "cache/decoded_layout.h"
#include "control/statistics.h"
#include "fs/rendered_file.h"
#include "io/read_engine.h"
#include "prefetch/view_file.h"

namespace augur {

struct DecodedFilesOptions {
  std::string folder;
  uint64_t bytes_max = 0;          // 0: half of what its disk has free, beside what is there already
  uint64_t index_bytes_max = 0;    // memory for finding files
  uint64_t writing_bytes_max = 0;  // files that wait to be written
};

// DecodedFiles is the decoded cache of a mount: it brings files of views that were made before, by whatever daemon of
// this host, and puts there what is made. It has a thread that writes, and looks at what others have written. Safe from
// any thread; nothing but Open, Start and the destructor waits. Not for deciding what to make: RenderedFiles.
class DecodedFiles {
 public:
  // Opens the cache; see DecodedCache::Open, also for `notes`. REQUIRES: statistics outlive it.
  static Result<std::unique_ptr<DecodedFiles>> Open(DecodedFilesOptions options, Statistics& statistics,
                                                    std::vector<std::string>& notes);
  // Stops.
  ~DecodedFiles();
  DecodedFiles(const DecodedFiles&) = delete;
  DecodedFiles& operator=(const DecodedFiles&) = delete;

  // Begins to write what is given to Keep. kNoSpace: the system gives no thread. REQUIRES: no other thread of this
  // process will fork.
  Status Start();
  // Ends the thread. What is not written yet is left out: it will be made again.
  void Stop();

  // Whether Read would find it.
  bool Has(const ViewFile& file) const;
  // Reads the file into `to`, which has RoomFor(file.size) bytes from a multiple of kDecodedPageBytes on, and calls
  // `done` once the bytes are there and checked, or are not; on a thread of the engine. False: it is not in the cache,
  // and `done` is not called. REQUIRES: the engine has ended all reads before this object ends.
  bool Read(const ViewFile& file, ReadEngine& engine, std::byte* to, const std::function<void(bool right)>& done);

  // Takes what was made to be written, unless it is there or waits already, or so much waits that the disk does not
  // follow: it is to be given again when it is next asked for. One file may be larger than what may wait: it is kept
  // alive while it is written, as it is while it is read.
  void Keep(const ViewFile& file, const RenderedRef& made);

  DecodedCounters counters() const { return cache_->counters(); }
  uint64_t bytes_max() const { return options_.bytes_max; }

  static uint64_t RoomFor(uint64_t bytes) { return UpToDecodedPage(bytes); }

 private:
  struct Task {
    ViewFile file;
    RenderedRef made;
  };
  struct HashOfKey {
    size_t operator()(const DecodedKey& key) const { return key.hash.low; }
  };
  static DecodedKey KeyOf(const ViewFile& file) { return {.hash = file.hash, .size = file.size}; }

  DecodedFiles(std::unique_ptr<DecodedCache> cache, DecodedFilesOptions options, Statistics& statistics)
      : options_(std::move(options)), cache_(std::move(cache)), statistics_(statistics) {}
  void Run();
  void Write(const Task& task);

  // Constant after construction.
  const DecodedFilesOptions options_;

  // Own synchronization.
  const std::unique_ptr<DecodedCache> cache_;
  Statistics& statistics_;

  Mutex mu_;
  CondVar added_;
  std::deque<Task> tasks_ AUGUR_GUARDED_BY(mu_);
  // Of tasks_, and of the one that is being written.
  std::unordered_set<DecodedKey, HashOfKey> waiting_ AUGUR_GUARDED_BY(mu_);
  uint64_t waiting_bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  bool stopping_ AUGUR_GUARDED_BY(mu_) = false;

  bool failure_told_ = false;  // used by the thread only

  std::thread thread_;
};

// A decoded cache, and what reads it; both nullptr: there is none.
struct DecodedSource {
  DecodedFiles* files = nullptr;
  ReadEngine* engine = nullptr;
};

}  // namespace augur
