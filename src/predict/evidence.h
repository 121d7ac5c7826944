// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>

namespace augur {

// Evidence weighs the reads of one epoch for a predicted order against chance, in bits. These are the log2 of how much
// likelier each read was by the prediction than by a reader who takes any of the files:
//
//   p(read) = 0.97 * s(place) + 0.03 / n.
//
// Here n is the number of reads in the epoch, and 0.03 the share of reads that a right prediction gets wrong. s is a
// distribution over the places of the order. For the first read of a stream it has 0.3 at the beginning and the rest by
// 1 / (1 + place). For a later read it begins at the place of the stream's last read. It has 0.4 for the next place. It
// has 0.3 for as far again as the last step (the stride of a rank among others). It has 0.15 over the next 64 by 1 /
// gap (reads that were not seen, for the page cache served them). It has 0.15 over the whole epoch (the next batch of a
// worker, wherever it is). Where a read's stream is not known, it may go on from any of the last kHeads reads, or be a
// first one. Each of these sums to at most 1 over all places, so a theorem bounds the bits that chance gains (Ville's
// inequality for the likelihood ratio). In whatever way a random reader reads, and however long, it comes to b bits
// with a probability of at most 2^-b. Whoever tries m predictions subtracts log2 m bits for that.
//
// Not synchronized. Memory: 100 bytes a stream, kStreamsMax of them.
class Evidence {
 public:
  // The share of reads that a right prediction gets wrong.
  static constexpr double kWrong = 0.03;
  // Readers without a name may be as many. The price is log2(65) = 6 bits a read, of 13.5 in 12,000 files; with half as
  // many heads 5 bits, with twice as many 7.
  static constexpr size_t kHeads = 64;
  // 400 KB. Eight ranks with 16 workers each are 136 processes.
  static constexpr size_t kStreamsMax = 4096;

  // `reads` are in the whole epoch. A run that was begun in mid-epoch (not `from_start`) has its first reads anywhere.
  explicit Evidence(uint64_t reads, bool from_start = true) : n_(static_cast<double>(reads)), from_start_(from_start) {}

  // In this stream (0: not known which) a file was read that comes at these places of the prediction. Where there are
  // none, it counts as wrong: the prediction does not have the file, or not in its beginning, which is all that may be
  // known of it. Returns the place that was taken for the read's.
  std::optional<uint32_t> AddRead(std::span<const uint64_t> places, uint32_t stream);

  double bits() const { return bits_; }
  uint64_t reads() const { return reads_; }
  uint64_t agreed() const { return agreed_; }  // of them, likelier by the prediction than by chance

 private:
  struct Head {
    uint32_t place = 0;
    uint32_t step = 1;
  };

  double Likelihood(uint32_t place, uint32_t stream) const;
  double After(const Head& head, uint32_t place) const;
  double First(uint32_t place) const;

  const double n_;
  const bool from_start_;
  std::unordered_map<uint32_t, Head> heads_;  // by stream
  std::deque<Head> unattributed_heads_;       // of reads whose stream is not known, kHeads at most: the oldest goes
  double bits_ = 0;
  uint64_t reads_ = 0;
  uint64_t agreed_ = 0;
};

}  // namespace augur
