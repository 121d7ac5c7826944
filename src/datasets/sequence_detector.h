// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "datasets/order.h"
#include "datasets/sequence_run.h"

namespace augur {

// SequenceDetector watches which files are read and recognises a pass over the files in a given order. That is path
// order, say, as of a validation set, a copy, or a sorted list. The pass is by one reader or by several side by side.
// Some of its reads may be unseen because the page cache serves them. Then it says which files come next. The
// prediction finds such a pass in the reads of one process. The SequenceDetector finds it also where each file is read
// by another process, as a loop in a shell does (PREFETCH.md).
//
// It bets on chains. A read of a file that comes at most kGapMax places after one of the last reads extends that read's
// chain. In a shuffled pass over n files this happens by chance. A gap of g or less to one of the last M reads has
// probability M g / n. So an extension is worth evidence, log2(n0 / (M g H)) bits. The nearer the read, the more. Here
// n0 is the number of files (8,192 at most) and H the sum of 1/g over all gaps. The expected weight, 2^evidence, of all
// that may extend one chain is then at most 1 in any shuffled pass over at least n0 files. So for each read that may
// begin a chain, the probability that this chain reaches kEvidenceBits is below 2^-kEvidenceBits. That is 2 * 10^-11
// for a shuffled epoch of a million files, and 2 * 10^-13 for 8,192. Shuffles of fewer files than n0 in a larger store
// are taken for sequential sooner: below 2^-28 a read for n0 / 4 of them. Fewer than kFilesMin files are never
// recognised: they are soon read.
//
// A real pass in which all reads are seen is recognised at its 15th read, and one of which every second read is unseen
// at about its 20th. With several readers one of them must come so far. Then the pass is a SequenceRun. It ends, and
// with it its prediction, when none of the last kSilenceReads reads was one of its own. Each run is judged by itself,
// so a shuffled reader beside it does not hide it, but in a store of a few thousand files may lead it astray. One
// thread at a time. Memory: 128 reads of 1 KB, and kRunsMax runs of at most 5 MB.
class SequenceDetector {
 public:
  static constexpr size_t kGapMax = 16;
  static constexpr double kEvidenceBits = 56;
  static constexpr size_t kFilesMin = 512;
  static constexpr size_t kRunsMax = 4;
  // Suppose one read in 64 of a run is seen, and all reads of another reader that is as fast. Then the run is silent
  // for this long with probability (1 - 1/65)^256 = 2 %: it is then recognised again at the cost of some 15 reads. A
  // reader who goes on at random is near enough to the run with probability 1,024 / n a read, so it is given up soon.
  static constexpr uint64_t kSilenceReads = 256;

  // `file_count` is that of the store.
  SequenceDetector(NextFiles next, uint64_t file_count);
  SequenceDetector(const SequenceDetector&) = delete;
  SequenceDetector& operator=(const SequenceDetector&) = delete;

  // A file was read, or opened. The same file again at once counts once (a large file is read in several pieces).
  void Observe(EntryNumber file);

  // Forgets all reads and runs: readers may be elsewhere now, since some reads were not told.
  void Forget();

  // Whether there is a run: the reads that are coming are known.
  bool following() const { return !runs_.empty(); }
  // Up to `count` files that come next and were not handed out yet, each once, in order; several runs give in turn.
  // None when nothing is recognised, at the end of the order, and when readers are too far behind those handed out.
  Order Take(size_t count);

  // Counters: runs recognised, and those of them that ended before their order did.
  uint64_t runs_begun() const { return runs_begun_; }
  uint64_t runs_broken() const { return runs_broken_; }

 private:
  // One of the last reads that no run claimed.
  struct Read {
    EntryNumber file = 0;
    double evidence = 0;  // bits, of the chain that ends here
    Order following;      // the kGapMax files after it
  };
  // The recent read that a file would extend.
  struct Link {
    uint64_t number;  // as in first_number_
    size_t gap;
  };

  // Takes a read that no run claimed; whether its chain is long enough for a run.
  bool Watch(EntryNumber file);
  void Remember(Read read);
  // `readers`: files where readers of this run are. Moves the run's reads from recent_ to the run.
  void Adopt(SequenceRun& run, const Order& readers);
  void Begin(EntryNumber file);
  // Whether `target` comes less than kReachFiles after `file`; then `between` has what lies between.
  bool Reaches(EntryNumber file, EntryNumber target, std::unordered_set<EntryNumber>* between) const;
  void EndRuns();

  // Constant after construction.
  const NextFiles next_;
  const uint64_t file_count_;
  const size_t recent_max_;             // M
  const std::vector<double> gap_bits_;  // by gap

  uint64_t number_ = 0;                          // reads so far
  EntryNumber last_ = 0;                         // the last of them
  std::deque<Read> recent_;                      // at most M that no run claimed: for one more, the oldest goes
  uint64_t first_number_ = 0;                    // of recent_.front(), counted by itself
  std::unordered_map<EntryNumber, Link> links_;  // expected file: the nearest of recent_ that it follows
  std::vector<std::unique_ptr<SequenceRun>> runs_;
  size_t turn_ = 0;  // of the run that gives first
  uint64_t runs_begun_ = 0;
  uint64_t runs_broken_ = 0;
};

}  // namespace augur
