// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "order/order.h"
#include "order/sequence_run.h"

namespace augur {

// SequenceDetector watches which files are read and recognises a pass over the files in a given order (path order, say:
// a validation set, a copy, a sorted list), by one reader or by several side by side, also when some reads are not seen
// because the page cache serves them. Then it says which files come next.
//
// It bets on chains. A read of a file that comes at most kGapMax places after one of the last reads extends that read's
// chain. In a shuffled pass over n files this happens by chance: with a gap of g or less to one of the last M reads,
// with probability M g / n. So an extension is worth evidence, log2(n0 / (M g H)) bits, where n0 is the number of files
// (8,192 at most) and H the sum of 1/g over all gaps: the nearer, the more. The expected weight, 2^evidence, of all
// that may extend one chain is then at most 1 in any shuffled pass over at least n0 files, whence the probability that
// a chain reaches kEvidenceBits is below 2^-kEvidenceBits for each read that may begin one: 10^-10 for a shuffled epoch
// of a million files, 10^-14 for 8,192. Shuffles of fewer files than n0 in a larger store are taken for sequential
// sooner: below 2^-28 a read for n0 / 4 of them. Fewer than kFilesMin files are never recognised: they are soon read.
//
// A real pass in which all reads are seen is recognised at its 15th read, one with every second read unseen at about
// its 20th, times the number of readers. A run ends, and with it what was said, when no read of the last
// `kSilenceReads` was one of its own, or when a better one is found; each run is judged by itself, so a shuffled reader
// beside it neither hides nor ends it. One thread at a time. Memory: 128 reads and `kRunsMax` runs (SequenceRun).
class SequenceDetector {
 public:
  static constexpr size_t kGapMax = 16;
  static constexpr double kEvidenceBits = 56;
  static constexpr size_t kFilesMin = 512;
  static constexpr size_t kRunsMax = 4;
  static constexpr uint64_t kSilenceReads = 512;

  // `file_count` is that of the store.
  SequenceDetector(NextFile next, uint64_t file_count);
  SequenceDetector(const SequenceDetector&) = delete;
  SequenceDetector& operator=(const SequenceDetector&) = delete;

  // A file was read, or opened. The same file again at once counts once (a large file is read in several pieces).
  void Observe(EntryNumber file);

  // Whether there is a run: the reads that are coming are known.
  bool following() const { return !runs_.empty(); }
  // Up to `count` files that come next and were not handed out yet, each once, in order; several runs give in turn.
  // None when nothing is recognised, at the end of the order, and when readers are too far behind what was handed out.
  Order Take(size_t count);

  // Counters: runs recognised, and those of them that ended before their order did.
  uint64_t runs_begun() const { return runs_begun_; }
  uint64_t runs_broken() const { return runs_broken_; }

 private:
  // One of the last reads that no run claimed.
  struct Read {
    EntryNumber file;
    double evidence;  // bits, of the best chain that ends here
    bool extended;    // by a later read
  };
  struct Following {
    std::unique_ptr<SequenceRun> run;
    uint64_t last_read;  // number of the last observation that was one of its own
  };

  void Begin(EntryNumber file);
  void EndSilentRuns();

  // Constant after construction.
  const NextFile next_;
  const uint64_t file_count_;
  const size_t recent_max_;             // M
  const std::vector<double> gap_bits_;  // by gap

  uint64_t observed_ = 0;
  EntryNumber last_ = 0;
  uint64_t first_number_ = 0;                       // of recent_.front()
  std::deque<Read> recent_;                         // the last M reads
  std::unordered_map<EntryNumber, uint64_t> near_;  // expected file: number of the recent read that it follows nearest
  std::vector<Following> runs_;
  size_t turn_ = 0;  // the run that gives next
  uint64_t runs_begun_ = 0;
  uint64_t runs_broken_ = 0;
};

}  // namespace augur
