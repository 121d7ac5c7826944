// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "archives/sample_begins.h"
#include "base/mutex.h"
#include "fs/node.h"

namespace augur {

// ArchiveReads tells from the READs of archives which samples their readers ask for. A READ is not what a reader asked
// for: the kernel asks for whole pages, leaves out those that it has, and reads ahead, and nothing in a request says
// which of them it is. Three rules tell them apart:
//   1. A READ that begins elsewhere than the last one of its stream has ended is a reader's own. He asks for the sample
//   that begins in its first page; or in the page before, which came with the sample before.
//   2. A READ that goes on where the last one has ended may be the kernel's. No sample is told of it.
//   3. Where a stream has gone on so for kSequentialBytes, further than the kernel reads ahead by itself, its reader
//   goes through the file. Then all samples of a READ are told, kToldMax at most.
// A stream is what one thread reads of one file. Samples of which several begin in one page cannot be told apart by
// rule 1, and are not told.
//
// Who maps the file (mmap) makes READs around the bytes that he touches: rule 1 tells few of his samples.
//
// Safe from any thread. Keeps kStreamsMax streams, those that read last. Source of what the kernel does: Linux 6.18,
// mm/readahead.c (page_cache_sync_ra), fs/fuse/file.c.
class ArchiveReads {
 public:
  static constexpr uint64_t kPageBytes = 4096;
  // Four times what the mount has the kernel read ahead (-o read-ahead).
  static constexpr uint64_t kSequentialBytes = 4 << 20;
  static constexpr size_t kToldMax = 32;
  static constexpr size_t kStreamsMax = 256;

  struct Read {
    NodeId node = 0;
    uint32_t reader = 0;  // thread; 0: not known
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };

  // The samples that the reader asks for, in order, none of which was the last one told of his stream. `begins`: what
  // begins in [read.offset - kPageBytes, read.offset + read.bytes), in order; those in the READ itself at least, if
  // there is one in its first page.
  std::vector<Entry> Take(const Read& read, std::span<const SampleBegin> begins) AUGUR_EXCLUDES(mu_);

 private:
  struct Stream {
    uint64_t begin = 0;  // of the bytes that were read without a gap
    uint64_t end = 0;
    // A READ a little ahead of `end`: two threads may take two READs of the kernel in the wrong order. Empty: none.
    uint64_t early_begin = 0;
    uint64_t early_end = 0;
    uint64_t last_told = UINT64_MAX;  // where that sample begins
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
