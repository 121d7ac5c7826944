// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "archives/touched_samples.h"
#include "base/mutex.h"
#include "fs/node.h"

namespace augur {

// ArchiveReads tells from the READs of archives which samples their readers ask for, and which the kernel has whole
// after that. A READ is not what a reader asked for. The kernel asks for whole pages, leaves out those that it has, and
// reads ahead, and nothing in a request says which of them it is. These rules tell them apart:
//   1. A READ of the pages of one sample, or of those of them that the kernel does not have, is its reader's own.
//   2. A READ that goes on where the last one of its stream has ended may be the kernel's, and so may one that is a
//   little further. Reading ahead, the kernel makes a READ for each gap between pages that it has. So may one of more
//   than a sample and its frame. The samples of such READs are not told as asked for.
//   3. Where a stream has gone on for kSequentialBytes, further than the kernel reads ahead by itself, its reader goes
//   through the file. He asks for all samples of a READ, kAskedMax at most.
// A stream is what one thread reads of one file. Samples of which several begin in one page cannot be told apart by
// rule 1, and are not told.
//
// Who maps the file (mmap) makes READs around the bytes that he touches: rule 1 tells few of his samples.
//
// Safe from any thread. Keeps kStreamsMax streams, those that read last. Source of what the kernel does: Linux 6.18,
// mm/readahead.c (page_cache_sync_ra, page_cache_async_ra), fs/fuse/file.c.
class ArchiveReads {
 public:
  // How far the mount has the kernel read ahead, unless -o read-ahead says otherwise.
  static constexpr uint64_t kNearBytes = 1 << 20;
  static constexpr uint64_t kSequentialBytes = 4 * kNearBytes;
  // A sample's frame has no more bytes behind the image.
  static constexpr uint64_t kFrameTailMax = 1024;
  static constexpr size_t kAskedMax = 32;
  static constexpr size_t kStreamsMax = 256;

  struct Read {
    NodeId node = 0;
    uint32_t reader = 0;  // thread; 0: not known
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  // Of one READ.
  struct Samples {
    std::vector<Entry> asked;    // in order; none was the last one told of the stream
    std::vector<Entry> brought;  // samples of which the page cache has all pages now
  };

  // `touched`: the samples some bytes of which the READ wants, in order.
  Samples Take(const Read& read, std::span<const TouchedSample> touched) AUGUR_EXCLUDES(mu_);

 private:
  struct Stream {
    uint64_t begin = 0;  // of the bytes that were read without a gap
    uint64_t end = 0;
    // A READ a little ahead of `end`: two threads may take two READs of the kernel in the wrong order. Empty: none.
    uint64_t early_begin = 0;
    uint64_t early_end = 0;
    uint64_t last_offset = UINT64_MAX;  // of the last READ; none
    uint64_t last_asked = UINT64_MAX;   // where that sample begins
    uint64_t last_use = 0;
  };
  using Name = std::pair<NodeId, uint32_t>;

  Stream& StreamOf(const Name& name) AUGUR_REQUIRES(mu_);
  static bool GoesOn(Stream& stream, const Read& read);

  Mutex mu_;
  uint64_t uses_ AUGUR_GUARDED_BY(mu_) = 0;
  std::map<Name, Stream> streams_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
